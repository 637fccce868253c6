// cli/write/report/held_text.cc: see report_sections.h.
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/report_sections.h"

#include <fmt/format.h>

namespace heapprof::cli {

std::vector<std::vector<std::string>> held_lines(const HeldMemory& held, bool exact_bytes) {
  const auto bytes = [exact_bytes](uint64_t value) {
    return exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  std::vector<std::vector<std::string>> lines;
  if (held.pools_peak_bytes != 0) {
    lines.push_back({fmt::format("the driver held {} {} for pools,", held.is_partial ? "at least" : "up to",
                                 bytes(held.pools_peak_bytes)),
                     fmt::format("of which up to {} was in use;", bytes(held.pools_used_peak_bytes)),
                     fmt::format("up to {} was beyond use;", bytes(held.pools_idle_peak_bytes)),
                     fmt::format("{} at the end", bytes(held.pools_bytes))});
  }
  if (held.graphs_peak_bytes != 0) {
    lines.push_back({fmt::format("the driver held up to {} for graphs,", bytes(held.graphs_peak_bytes)),
                     fmt::format("of which up to {} was in use;", bytes(held.graphs_used_peak_bytes)),
                     fmt::format("{} at the end", bytes(held.graphs_bytes))});
  }
  return lines;
}

std::vector<std::string> use_line(const DeviceUse& use, const UnseenMemory& unseen, bool exact_bytes) {
  const auto bytes = [exact_bytes](uint64_t value) {
    return exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  if (use.samples == 0) {
    // If NVML had not answered before the program ended, the program's use of the device is unknown: no line.
    if (use.missing.empty() || use.missing == kNothingSaid) return {};
    return {"in use by NVML's count: not known", fmt::format("({})", escape_controls(use.missing))};
  }
  std::vector<std::string> pieces = {
      fmt::format("in use{} by NVML's count: at most {} (sampled{}):", use.is_of_all ? " by all processes" : "",
                  bytes(use.max_bytes), use.missing.empty() ? "" : ", and not in every process"),
      fmt::format("seen {},", bytes(use.seen_at_max_bytes)),
      fmt::format("{} {}", use.is_of_all ? "others' and unattributed ≤" : "unattributed ≈",
                  bytes(unattributed_bytes(use)))};
  uint64_t estimated_bytes = 0;
  bool has_bound = false;
  for (const Estimate& estimate : unseen.estimates) {
    estimated_bytes = add_saturating(estimated_bytes, estimate.size_bytes);
    has_bound = has_bound || estimate.bound_count != 0;
  }
  if (estimated_bytes != 0)
    pieces.push_back(
        fmt::format("(contexts and modules, over the run: {} {})", has_bound ? "≤" : "≈", bytes(estimated_bytes)));
  return pieces;
}

}  // namespace heapprof::cli
