// cli/write/report/report_csv.cc: one row for each place (RFC 4180), for spreadsheets and scripts: integers, no units
// in the cells.
#include "cli/write/report/formats.h"
#include "cli/write/report/tables/tables.h"

namespace heapprof::cli {

std::string render_report_csv(const Profile& profile, const ReportView& view, const Terminal&) {
  return table_csv("places", make_table({"places", fill_places}, profile, view));
}

}  // namespace heapprof::cli
