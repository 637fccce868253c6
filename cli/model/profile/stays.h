// cli/model/profile/stays.h: lifetimes by time bucket: blocks that lived across a bucket boundary, by the bucket in
// which they began and the one in which they ended.
//
// Time bucket i of a device runs from bounds_ns[i] to bounds_ns[i + 1]. For two boundaries a < b, the blocks that began
// between them and were live at b are the sum of the stays with a <= begin < b <= end. With a = 0 these are all blocks
// that were live at b. A block that ended in the bucket in which it began was live at no boundary, so it is in no stay.
//
// Guarantees
//  - At the last boundary, the end of the run, a site's stays sum to what it leaked. At every boundary they sum to at
//    most its maximum (cli/model/profile/invariants.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

inline constexpr size_t kMostBounds = 256;  // of a device in a profile

struct Stay {
  uint32_t begin = 0;  // time bucket
  uint32_t end = 0;    // time bucket; the number of buckets: they were live at the end
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

// Adds `from` to `into`. Sums are modulo 2^64, because a target can make them exceed 64 bits.
void add_stays(std::vector<Stay>* into, const std::vector<Stay>& from);

}  // namespace heapprof::cli
