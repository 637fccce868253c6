// cli/model/profile/named_memory.h: what the program's own names of memory came to, on one device
// (heapprof_name_block() of shared/include/heapprof/heapprof.h).
//
// Guarantees
//  - A block counts once for each name that it got, at the site that allocated it; what it is after a realloc is
//    another block, which has the name as well.
//  - The sites of a name sum to the name, but for its maximum (cli/model/profile/invariants.h). A profile whose stacks
//    were dropped has no sites of names.
// Not provided: what was live under a name at the peak of the device: the block that makes the peak has its name only
//           after it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct NamedSite {
  uint32_t node = 0;  // the stack that allocated it: as in the sites beside
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
  std::vector<NamedSite> sites;  // by what is live at the end, the most first
};

// Makes those of one name one, and of its sites those of one stack; the largest by their maximum come first. Maxima of
// several runs add, as their peaks do.
void merge_named(std::vector<NamedMemory>* names);

// "attention: KV cache", as it is shown; control characters are escaped.
std::string shown_name(const NamedMemory& named);

}  // namespace heapprof::cli
