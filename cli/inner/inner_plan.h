// cli/inner/inner_plan.h: finds an allocator inside of an executable, and plans how the agent hooks it in place.
//
// Guarantees
//  - All functions of an allocator are hooked, or none: a block that is seen to begin and not to end would be a leak
//    that is none. Why not is said, by function.
//  - Whatever the allocator's functions call, directly or through others of the file, is told to the agent: a call from
//    there is the allocator's own.
// Not provided: functions that were inlined into their callers (link-time optimization); a function whose name is in no
//               symbol table.
// Trust:    any bytes.
// Cost:     a program without such names: its symbol tables are read, 30 ms for a million symbols. With them: its code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct InnerAllocator {
  std::string name;   // "jemalloc"; "malloc": one without a name that is known
  std::string group;  // "_rjem_": the prefix of its functions; empty: they are malloc's family
  uint32_t functions = 0;
};

struct InnerPlanning {
  std::vector<InnerAllocator> allocators;  // by the number of their group
  std::vector<unsigned char> plan;         // shared/inner.h; empty: nothing is to be hooked
  std::vector<std::string> refusals;       // "free is shorter than a jump"; not empty: so there is no plan
};

// fd: the executable. debug_fd: its separate debug file; -1: none.
InnerPlanning plan_inner_hooks(int fd, int debug_fd);

}  // namespace heapprof::cli
