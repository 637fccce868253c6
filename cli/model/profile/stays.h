// cli/model/profile/stays.h: blocks that lived across a bound between two stretches of a run, by the stretch in which
// they began and the one in which they ended.
//
// Stretch i of a device is the time from bounds_ns[i] to bounds_ns[i + 1]. For two bounds a < b, what began between
// them and was live at b is the sum of the stays with a <= begin < b <= end; what was live at b is that for a = 0. A
// block that ended in the stretch in which it began is in no stay: it was live at no bound.
//
// Guarantees
//  - At the last bound, the end of the run, a site's stays sum to what it leaked; at none to more than it ever had at
//    once (cli/model/profile/invariants.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

inline constexpr size_t kMostBounds = 256;  // of a device in a profile

struct Stay {
  uint32_t begin = 0;  // stretch
  uint32_t end = 0;    // stretch; as many as there are stretches: they were live at the end
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

// `into` has the sum of both from now on. Of a target's own making, sums may be beyond 64 bits: they are modulo 2^64.
void add_stays(std::vector<Stay>* into, const std::vector<Stay>& from);

}  // namespace heapprof::cli
