// cli/model/analysis/own_pools.h: pool allocators of runtimes and libraries, which cut objects from large pieces, and
// the setting that turns each off.
//
// Such a piece is one block, or one mapping. It counts for the caller that happened to need a new piece, so the report
// cannot say which callers allocated the objects. With the setting, each object is a block of the heap.
//
// Guarantees
//  - An allocator is recognised by its functions in the stacks, in its own module. That a library is loaded, or a
//    program has a certain name, is not enough.
//  - A pool is reported only if its pieces have at least a tenth of the peaks of heap and mapped memory together.
// Not provided: Python's pool, which cli/write/report/report_sections.h explains, and pools that cannot be turned off.
// Trust:    names are untrusted: any bytes.
// Cost:     the sites, and a few frames of each.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct OwnPool {
  std::string owner;        // "PHP"
  uint64_t peak_bytes = 0;  // of its pieces
  uint64_t all_bytes = 0;   // the peaks of the heap and of mapped memory
  std::string command;      // shell command that turns the pool off
};

std::vector<OwnPool> find_own_pools(const Profile& profile);

}  // namespace heapprof::cli
