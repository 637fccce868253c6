// cli/model/compare/match_stacks.h: which stacks of two profiles are the same, even if their builds differ.
//
// Stacks are matched by their paths (cli/model/compare/stack_paths.h), per device, in this order:
//  1. Those with the same path.
//  2. Those whose paths are equal without the functions that the other profile lacks. There these functions were
//     inlined or renamed, or do not exist yet. If that removes an innermost function, the number of allocations and the
//     bytes must agree within a factor of two, and the stack's partner must end in a function that both profiles have.
//     So a removed function is not matched with a new one.
//  3. Those with the same innermost function, if one path is a subsequence of the other: functions in between were
//     inlined. Several stacks may have the same partner, which step 2 may already have matched. If a stack has several
//     possible partners, the one with the longest path is chosen.
//  4. A stack that only one profile has to a second stack: one that ends up to four calls further out, or the one whose
//     path is the first's without the functions that the other profile lacks. Condition: the second stack has more
//     allocations and bytes in the other profile than in this one, by as many as the first stack has (within a tenth).
//     So the first stack's innermost functions were inlined into it there.
//
// Guarantees
//  - Each site is in exactly one stack: the sums over the matched stacks are the sums over the sites, regardless of the
//    matches.
//  - Deterministic for equal profiles.
// Not provided: certainty beyond step 1: names and numbers are evidence, no proof. Step 3 considers the 1,000 largest
//           unmatched stacks of a function and side.
// Cost:     linear in the sites, except for step 3.
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

// Either may be null: a device that only one profile has. In the order of paths.
std::vector<MatchedStack> match_stacks(StackPaths* paths, BySide<const Device*> devices);

}  // namespace heapprof::cli
