// cli/write/report/formats.cc: one line per format.
#include "cli/write/report/formats.h"

#include <array>

namespace heapprof::cli {

std::span<const ReportFormat> report_formats() {
  static constexpr std::array<ReportFormat, 4> kFormats = {
      {{"text", render_report_text, render_findings_text, render_snapshots_text},
       {"json", render_report_json, render_findings_json, render_snapshots_json, false, table_json},
       {"csv", render_report_csv, nullptr, nullptr, false, table_csv},
       {"dot", render_scopes_dot, nullptr, nullptr, true}}};
  return kFormats;
}

}  // namespace heapprof::cli
