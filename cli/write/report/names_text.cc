// cli/write/report/names_text.cc: see report_sections.h.
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/metric_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr size_t kMostListed = 4;
constexpr size_t kNameColumns = 32;  // of a name

}  // namespace

std::vector<std::string> name_cells(const Profile& profile, const Device& device, bool exact_bytes) {
  const auto bytes = [exact_bytes](uint64_t value) {
    return exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  const std::string live(live_word(profile));
  std::vector<std::string> cells;
  uint64_t named_bytes = 0;
  for (const NamedMemory& named : device.names) named_bytes = add_saturating(named_bytes, named.leaked_bytes);
  for (size_t i = 0; i < std::min(device.names.size(), kMostListed); ++i) {
    const NamedMemory& named = device.names[i];
    cells.push_back(fmt::format("{}{} up to {}, {} {};", i == 0 ? "by name: " : "",
                                shorten_middle(shown_name(named), kNameColumns), bytes(named.max_bytes), live,
                                bytes(named.leaked_bytes)));
  }
  if (device.names.size() > kMostListed)
    cells.push_back(fmt::format("{} (--format json);", format_counted(device.names.size() - kMostListed, "more name")));
  if (!device.names.empty()) {
    const uint64_t others = device.totals.leaked_bytes - std::min(device.totals.leaked_bytes, named_bytes);
    cells.push_back(fmt::format("without a name, {} {}", live, bytes(others)));
  }
  const uint64_t unmatched = profile.run.counters.unmatched_names;
  if (unmatched == 0 || &device != &profile.devices[0]) return cells;
  if (!cells.empty()) cells.back() += ";";
  cells.push_back(fmt::format("{} {} given where nothing was live", format_counted(unmatched, "name"),
                              unmatched == 1 ? "was" : "were"));
  return cells;
}

std::vector<std::string> left_out_cells(const Profile& profile, const Device& device, bool exact_bytes) {
  const Counters& counters = profile.run.counters;
  if (counters.left_out == 0 || &device != &profile.devices[0]) return {};
  const auto bytes = [exact_bytes](uint64_t value) {
    return exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  return {fmt::format("left out, as the program paused: {} of {},", format_counted(counters.left_out, "alloc"),
                      bytes(counters.left_out_bytes)),
          fmt::format("{} {}", live_word(profile), bytes(counters.left_out_live_bytes))};
}

}  // namespace heapprof::cli
