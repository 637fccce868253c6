// cli/write/held_text.cc: see held_text.h.
#include "cli/write/held_text.h"

#include "cli/base/units.h"

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

}  // namespace heapprof::cli
