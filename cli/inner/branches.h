// cli/inner/branches.h: finds branches and addresses that refer to the first bytes of functions to be hooked, other
// than plain calls.
//
// Guarantees
//  - Checks direct branches of any form in all code of the file; addresses that code computes (lea); tables of
//    addresses and of distances, if a function jumps by a table.
//  - A branch into the middle of the first bytes is found wherever it is. A branch to the function's entry is searched
//    only in the function and its ".cold" part, because from elsewhere it is a call or a tail call.
// Not provided: addresses that are computed by arithmetic.
// Trust:    any bytes.
// Cost:     1 ms for a MiB of code.
#pragma once

#include "cli/inner/code_file.h"
#include "cli/inner/planning_time.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

struct CodeRange {
  uint64_t start_svma = 0;
  uint64_t end_svma = 0;
  bool holds(uint64_t svma) const { return svma >= start_svma && svma < end_svma; }
};

struct HookedFunction {
  std::string_view name;
  std::vector<CodeRange> parts;  // where the function is; the first begins with its entry
  uint64_t patch_end_svma = 0;   // end of the bytes that a jump replaces
};
// A compiler's copy or part of a hooked function, with parameters of its own: it cannot be hooked.
struct FunctionClone {
  std::string_view name;
  uint64_t start_svma = 0;
  bool ends_blocks = false;
};

struct FoundBranches {
  std::vector<std::string> refusals;  // why functions cannot be hooked: "free has a branch back to its entry"
  std::vector<std::string> unseen;    // copies that return blocks and are called from outside the allocator
};
// own: the allocator's code, sorted. pre: file.read_code()
FoundBranches find_branches(const CodeFile& file, const std::vector<HookedFunction>& functions,
                            const std::vector<FunctionClone>& clones, const std::vector<CodeRange>& own,
                            const PlanningTime& budget);

}  // namespace heapprof::cli
