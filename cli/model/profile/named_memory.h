// cli/model/profile/named_memory.h: memory that the program itself named, on one device (heapprof_name_block() of
// shared/include/heapprof/heapprof.h).
//
// Guarantees
//  - A block counts once for each name that it got, at the site that allocated it. If it is reallocated, the new block
//    counts as another one and gets the name as well.
//  - The sites of a name sum to the name's numbers, except its maximum (cli/model/profile/invariants.h). A profile
//    whose stacks were dropped has no sites of names.
// Not provided: what was live under a name at the device's peak, because the block that causes the peak is named only
//           after the peak.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct NamedSite {
  uint32_t node = 0;  // the stack that allocated it: as in the device's sites
  uint64_t total_bytes = 0;
  uint64_t total_blocks = 0;
  uint64_t leaked_bytes = 0;
  uint64_t leaked_blocks = 0;
};

struct NamedMemory {
  std::string category;  // empty: none
  std::string name;
  uint64_t total_bytes = 0;  // of blocks that ever had the name
  uint64_t total_blocks = 0;
  uint64_t max_bytes = 0;     // the most that was live under the name …
  uint64_t max_blocks = 0;    // … and its number of blocks
  uint64_t leaked_bytes = 0;  // live under the name at the end
  uint64_t leaked_blocks = 0;
  std::vector<NamedSite> sites;  // the most live bytes at the end first
};

// Merges entries with the same name, and their sites with the same stack. The largest maximum comes first. Maxima of
// several runs add up, as peaks do.
void merge_named(std::vector<NamedMemory>* names);

// "attention: KV cache", as it is shown; control characters are escaped.
std::string shown_name(const NamedMemory& named);

}  // namespace heapprof::cli
