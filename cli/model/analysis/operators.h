// cli/model/analysis/operators.h: what each operator of PyTorch came to, over all paths that lead to it, with the work
// of the backward pass for it (heapprof run --torch-ops).
//
// Guarantees
//  - Each operator's own time and memory count once: at the operator that a backward function's work is for, with all
//    that was done inside of that function; else at itself.
#pragma once

#include "cli/model/profile/scopes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct OperatorSum {
  std::string name;
  uint64_t begun = 0;
  uint64_t own_time_ns = 0;         // without that of operators inside of it
  std::vector<ScopeMemory> memory;  // likewise; without peaks
  uint64_t backward_begun = 0;      // functions of the backward pass for it
  uint64_t backward_time_ns = 0;    // with all inside of them
  std::vector<ScopeMemory> backward_memory;
};

// The one with the most time first, its backward work included. Empty: there are no operators.
std::vector<OperatorSum> sum_operators(const Scopes& scopes);

}  // namespace heapprof::cli
