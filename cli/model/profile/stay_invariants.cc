// cli/model/profile/stay_invariants.cc: computes the live amount at each boundary from the change since the one before.
//
// Sums are modulo 2^64, because a target can send any size, and its allocations and frees must still agree.
#include "cli/model/profile/stay_invariants.h"

#include <fmt/format.h>

namespace heapprof::cli {
namespace {

void check_site(const Device& device, size_t index, std::vector<std::string>* violations) {
  const Site& site = device.sites[index];
  const size_t bounds = device.bounds_ns.size();
  std::vector<LiveAmount> live(bounds + 1);
  for (const Stay& stay : site.stays) {
    if (stay.begin >= stay.end || stay.end >= bounds) {
      violations->push_back(fmt::format("{} site {}: it has a stay from {} to {} of {} bounds", device.name, index,
                                        stay.begin, stay.end, bounds));
      return;
    }
    // Only checked for the heap, whose blocks are too small for their sum to exceed 64 bits.
    const bool is_larger = device.name == "host" && stay.bytes > site.numbers.max_bytes;
    if (is_larger || stay.blocks > site.numbers.total_blocks)
      violations->push_back(fmt::format("{} site {}: a stay of {} bytes in {} blocks, more than it ever had",
                                        device.name, index, stay.bytes, stay.blocks));
    live[stay.begin + 1].bytes += stay.bytes;
    live[stay.begin + 1].blocks += stay.blocks;
    live[stay.end + 1].bytes -= stay.bytes;
    live[stay.end + 1].blocks -= stay.blocks;
  }
  for (size_t i = 1; i < bounds; ++i) {
    live[i].bytes += live[i - 1].bytes;
    live[i].blocks += live[i - 1].blocks;
    if (live[i].bytes > site.numbers.max_bytes || live[i].blocks > site.numbers.total_blocks)
      violations->push_back(fmt::format("{} site {}: {} bytes in {} blocks are live at bound {}, more than it ever had",
                                        device.name, index, live[i].bytes, live[i].blocks, i));
  }
  const LiveAmount leaked{site.numbers.leaked_bytes, site.numbers.leaked_blocks};
  if (live[bounds - 1] != leaked)
    violations->push_back(fmt::format("{} site {}: its stays sum to {} bytes in {} blocks at the end, {} in {} leaked",
                                      device.name, index, live[bounds - 1].bytes, live[bounds - 1].blocks, leaked.bytes,
                                      leaked.blocks));
}

}  // namespace

std::vector<std::string> find_stay_violations(const Device& device, uint64_t duration_ns) {
  std::vector<std::string> violations;
  uint64_t before = 0;
  for (const uint64_t bound : device.bounds_ns) {
    if (bound < before) violations.push_back(fmt::format("{}: a bound is before the one in front of it", device.name));
    before = bound;
  }
  if (before > duration_ns)
    violations.push_back(fmt::format("{}: the last bound is at {} ns of {}", device.name, before, duration_ns));
  if (device.bounds_ns.size() == 1) violations.push_back(fmt::format("{}: there is one bound", device.name));
  for (size_t i = 0; i < device.sites.size() && device.bounds_ns.size() > 1; ++i) check_site(device, i, &violations);
  return violations;
}

}  // namespace heapprof::cli
