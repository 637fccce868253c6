// cli/model/profile/named_memory.h: memory that the program itself named, on one device (heapprof_name_block() of
// shared/include/heapprof/heapprof.h).
//
// Guarantees
//  - A block counts once for each name that it got, at the site that allocated it. After a realloc it is another block,
//    which has the name as well.
//  - The sites of a name sum to the name's numbers, except its maximum (cli/model/profile/invariants.h). A profile
//    whose stacks were dropped has no sites of names.
// Not provided: what was live under a name at the peak of the device: the block that causes the peak is named only
//           after it.
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
  uint64_t total_bytes = 0;  // of blocks that ever had it
  uint64_t total_blocks = 0;
  uint64_t max_bytes = 0;     // the most that was live under it …
  uint64_t max_blocks = 0;    // … and how many blocks they were
  uint64_t leaked_bytes = 0;  // live under it at the end
  uint64_t leaked_blocks = 0;
  std::vector<NamedSite> sites;  // by what is live at the end, the largest first
};

// Merges those with the same name, and their sites with the same stack; the largest by their maximum come first. Maxima
// of several runs add up, as their peaks do.
void merge_named(std::vector<NamedMemory>* names);

// "attention: KV cache", as it is shown; control characters are escaped.
std::string shown_name(const NamedMemory& named);

}  // namespace heapprof::cli
