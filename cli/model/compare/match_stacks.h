// cli/model/compare/match_stacks.h: which stacks of two profiles are the same, even if their builds differ.
//
// Stacks are matched by their paths (cli/model/compare/stack_paths.h), per device, in this order:
//  1. Those with the same path.
//  2. Those with the same path without functions that the other profile lacks: there they were inlined, renamed, or do
//     not exist yet. If that removes an innermost function, the number of allocations and the bytes must agree within a
//     factor of two, and the stack's partner must end in a function that both profiles have. So a removed function is
//     not matched with a new one.
//  3. Those with the same innermost function, if one path is a subsequence of the other: functions in between were
//     inlined. Several may have one partner, also one that step 2 found; among several partners the one with the
//     longest path is chosen.
//  4. A stack to one up to four calls further out, or without the functions that the other profile lacks, if that one's
//     partner has just so many more allocations and bytes (within a tenth): the innermost functions were inlined there.
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
