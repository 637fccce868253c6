// cli/model/compare/match_stacks.h: finds out which stacks of two profiles are the same, even if the builds differ.
//
// Stacks are matched by their paths (cli/model/compare/stack_paths.h), per device, in this order:
//  1. Those with the same path.
//  2. Those whose paths are equal without the functions that the other profile lacks. In the other profile these
//     functions were inlined or renamed, or do not exist yet. If that removes an innermost function, the number of
//     allocations and the bytes must agree within a factor of two, and the stack's partner must end in a function that
//     both profiles have. So a removed function is not matched with a new one.
//  3. Those with the same innermost function, if one path is a subsequence of the other: functions in between were
//     inlined. Several stacks may have the same partner, which step 2 may already have matched. If a stack has several
//     possible partners, the one with the longest path is chosen.
//  4. A stack that only one profile has is added to a second stack. That is one that ends up to four calls further out,
//     or the one whose path is the first's without the functions that the other profile lacks. It is done only if the
//     second stack has more allocations and bytes in the other profile than in this one, by as many as the first stack
//     has (within a tenth). That means that the first stack's innermost functions were inlined in the other profile.
//
// Guarantees
//  - Each site is in exactly one stack: the sums over the matched stacks are the sums over the sites, regardless of the
//    matches.
//  - Deterministic for equal profiles.
// Not provided: certainty beyond step 1: names and numbers are evidence, not proof. Step 3 considers the 1,000 largest
//           unmatched stacks of a function and side.
// Cost:     linear in the sites, except for step 3.
#pragma once

#include "cli/model/compare/stack_paths.h"

#include <vector>

namespace heapprof::cli {

struct MatchedStack {
  uint32_t path = 0;  // consists of the common functions; 0: no stack
  BySide<PlaceNumbers> numbers;
  BySide<uint32_t> node = {};  // by side: the node of its largest site by total bytes
  BySide<bool> is_in = {};
};

// A device is null if its profile does not have it. The result is in the order of paths.
std::vector<MatchedStack> match_stacks(StackPaths* paths, BySide<const Device*> devices);

}  // namespace heapprof::cli
