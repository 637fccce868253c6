// cli/write/report/report_csv.cc: one row for each place (RFC 4180), for spreadsheets and scripts: integers, no units
// in the cells.
#include "cli/write/encode/csv.h"
#include "cli/write/report/formats.h"
#include "cli/write/text/place_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

std::string module_path(const Profile& profile, const Frame& frame) {
  return frame.module < profile.modules.size() ? profile.modules[frame.module].path : "";
}

// With the comma before it; empty where nothing is known.
std::string cell(const PlaceNumbers& numbers, const SiteField& field) {
  const std::optional<uint64_t> number = reported_number(numbers, field);
  return number ? fmt::format(",{}", *number) : ",";
}

}  // namespace

std::string render_report_csv(const Profile& profile, const ReportView& view, const Terminal&) {
  const PlaceTree tree = build_place_tree(profile);
  const bool lifetimes = profile.has_lifetimes;
  std::vector<const SiteField*> fields = reported_numbers(profile);
  std::erase_if(fields, [](const SiteField* field) { return field->needs == SiteField::Needs::kLeaks; });
  // What came later stands behind, so that columns keep their numbers.
  const auto sizes = std::stable_partition(fields.begin(), fields.end(), [](const SiteField* field) {
    return field->needs != SiteField::Needs::kSizes && field->needs != SiteField::Needs::kJudgement;
  });
  std::string text = "device,function,file,line,module";
  for (auto field = fields.begin(); field != sizes; ++field) text += fmt::format(",{}", (*field)->report);
  if (lifetimes) text += ",suppressed_leaked_bytes,suppressed_leaked_blocks_count";
  for (auto field = sizes; field != fields.end(); ++field) text += fmt::format(",{}", (*field)->report);
  text += "\n";
  for (const Device* device : shown_devices(profile, view)) {
    const std::vector<Place> places = find_places(profile, tree, *device);
    for (const uint32_t index : ordered_places(profile, view, places)) {
      const Place& place = places[index];
      const PlaceNumbers& n = place.numbers;
      const Frame none;
      const Frame& frame = place.has_frame ? profile.frames[place.frame] : none;
      text += fmt::format("{},{},{},{},{}", csv_cell(device->name), csv_cell(frame.function), csv_cell(frame.file),
                          frame.line > 0 ? std::to_string(frame.line) : "", csv_cell(module_path(profile, frame)));
      for (auto field = fields.begin(); field != sizes; ++field) text += cell(n, **field);
      if (lifetimes) text += fmt::format(",{},{}", n.suppressed_bytes, n.suppressed_blocks);
      for (auto field = sizes; field != fields.end(); ++field) text += cell(n, **field);
      text += "\n";
    }
  }
  return text;
}

}  // namespace heapprof::cli
