// cli/model/analysis/own_pools.h: allocators of runtimes and libraries that cut objects from large pieces of their own,
// and the one setting that turns each off.
//
// Such a piece is one block, or one mapping, and belongs to the caller that needed one more: the report has no answer
// to who asked for the objects. With the setting each object is a block of the heap.
//
// Guarantees
//  - An allocator is recognised by its functions in the stacks, in its own module. A library that is loaded, or a
//    program's name, is no evidence.
//  - A pool is named only where it has a tenth of the peak of the heap and mapped memory together.
// Not provided: Python's, which cli/write/report/report_sections.h explains; pools that no setting turns off.
// Trust:    names are strangers': any bytes.
// Cost:     the sites, and a few frames of each.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct OwnPool {
  std::string owner;        // "PHP"
  uint64_t peak_bytes = 0;  // of the pieces that it took
  uint64_t all_bytes = 0;   // the peaks of the heap and of mapped memory
  std::string command;      // that turns it off: to be pasted
};

std::vector<OwnPool> find_own_pools(const Profile& profile);

}  // namespace heapprof::cli
