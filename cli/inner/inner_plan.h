// cli/inner/inner_plan.h: finds an allocator inside an executable, and plans how the agent hooks it in place.
//
// Guarantees
//  - All functions of an allocator are hooked, or none: a block whose begin is seen but not its end would be a false
//    leak. The reasons for a refusal are reported by function.
//  - The agent gets the ranges of code that the allocator's functions reach, over any number of steps, by direct calls
//    and jumps. A call of the allocator from these ranges is the allocator's own.
// Not provided: functions that were inlined into their callers (link-time optimization); a function whose name is in no
//               symbol table.
//               Code that is reached only by pointers: the agent treats it as the program's.
//               Blocks returned by a copy of a function that the compiler made for certain callers
//               (malloc.constprop.0). If a copy that ends blocks (free.part.0) is called from outside the allocator,
//               nothing is hooked.
//               Hooking on aarch64: the allocator is named, and refused.
// Trust:    any bytes.
// Cost:     at most kPlanningNs of processor time. If that is not enough, nothing is hooked, and that is reported.
//           Without an allocator's names, only the program's symbol tables are read, 30 ms for a million symbols; with
//           them, also its code.
#pragma once

#include "cli/inner/planning_time.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct InnerAllocator {
  std::string name;   // "jemalloc"; "malloc": an allocator without a known name
  std::string group;  // "_rjem_": the prefix of its functions; empty: they are malloc's family
  uint32_t functions = 0;
};

struct InnerPlanning {
  std::vector<InnerAllocator> allocators;  // indexed by group number
  std::vector<unsigned char> plan;         // shared/inner.h; empty: nothing is to be hooked
  std::vector<std::string> refusals;       // "free is shorter than a jump"; if there is one, there is no plan
  std::vector<std::string> unseen;         // functions that return blocks and cannot be hooked; not in the plan
};

// fd: the executable. debug_fd: its separate debug file; -1: none.
// most_ns: processor time after which it gives up, and says so.
InnerPlanning plan_inner_hooks(int fd, int debug_fd, uint64_t most_ns = kPlanningNs);

}  // namespace heapprof::cli
