// cli/model/compare/match_stacks.h: which stacks of two profiles are one and the same, though their builds may differ.
//
// Stacks are matched by their paths (cli/model/compare/stack_paths.h), per device, in this order:
//  1. Those of one path.
//  2. Those of one path once the functions are left out that the other profile has nowhere: there they were inlined,
//     renamed, or do not exist yet. Where that takes away an innermost function, the number of allocations and the
//     bytes must agree within a factor of two, and the stack's partner must end in a function that both profiles know:
//     so a function that is gone and another one that is new stay what they are.
//  3. Those of one innermost function, if one path is a subsequence of the other: functions in between were inlined.
//     Several may have one partner, also one that step 2 found; of several partners the one with the longest path is
//     taken.
//  4. A stack to the one, up to four calls further out or without the functions that the other profile has nowhere,
//     whose partner has just so many more allocations and bytes (within a tenth): the innermost functions were inlined
//     there.
//
// Guarantees
//  - Each site is in exactly one stack: the sums over the matched stacks are the sums over the sites, whatever was
//    matched.
//  - Deterministic for equal profiles.
// Not provided: certainty beyond step 1: names and numbers are evidence, no proof. Step 3 looks at the 1,000 largest
//           unmatched stacks of a function and side.
// Cost:     linear in the sites, but for step 3.
#pragma once

#include "cli/model/compare/stack_paths.h"

#include <vector>

namespace heapprof::cli {

struct MatchedStack {
  uint32_t path = 0;  // of the common functions; 0: no stack
  BySide<PlaceNumbers> numbers;
  BySide<uint32_t> node = {};  // of each side's largest site by total bytes
  BySide<bool> is_in = {};
};

// The two may be null: a device that only one profile has. In the order of paths.
std::vector<MatchedStack> match_stacks(StackPaths* paths, BySide<const Device*> devices);

}  // namespace heapprof::cli
