// cli/inner/inner_plan.h: finds an allocator inside of an executable, and plans how the agent hooks it in place.
//
// Guarantees
//  - All functions of an allocator are hooked, or none: a block that is seen to begin and not to end would be a leak
//    that is none. Why not is said, by function.
//  - The agent gets the code that the allocator's functions reach by direct calls and jumps, in one step or many: a
//    call of the allocator from there is the allocator's own.
// Not provided: functions that were inlined into their callers (link-time optimization); a function whose name is in no
//               symbol table.
//               Code that is reached by pointers alone: the agent takes it for the program's.
//               What a copy of a function gives out that the compiler made for callers of its own (malloc.constprop.0).
//               One that ends blocks (free.part.0) keeps all from being hooked, if more than the allocator calls it.
// Trust:    any bytes.
// Cost:     kPlanningNs of processor time at most; then nothing is hooked, and that is said.
//           a program without such names: its symbol tables are read, 30 ms for a million symbols. With them: its code.
#pragma once

#include "cli/inner/planning_time.h"

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
  std::vector<std::string> unseen;         // functions that give out blocks and cannot be hooked, beside the plan
};

// fd: the executable. debug_fd: its separate debug file; -1: none.
// most_ns: processor time after which it gives up, and says so.
InnerPlanning plan_inner_hooks(int fd, int debug_fd, uint64_t most_ns = kPlanningNs);

}  // namespace heapprof::cli
