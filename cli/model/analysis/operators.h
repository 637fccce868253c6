// cli/model/analysis/operators.h: the sums of each PyTorch operator, over all paths to it, and the work that the
// backward pass did for it (heapprof run --torch-ops).
//
// Guarantees
//  - Each operator's own time and memory count once: the work of a backward function, with everything inside it, counts
//    at its forward operator; any other work at the operator itself.
#pragma once

#include "cli/model/profile/scopes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct OperatorSum {
  std::string name;
  uint64_t begun = 0;
  uint64_t own_time_ns = 0;         // without that of operators inside it
  std::vector<ScopeMemory> memory;  // likewise; without peaks
  uint64_t backward_begun = 0;      // functions of the backward pass for it
  uint64_t backward_time_ns = 0;    // with everything inside them
  std::vector<ScopeMemory> backward_memory;
};

// The operator with the most time, including its backward work, comes first. Empty if there are no operators.
std::vector<OperatorSum> sum_operators(const Scopes& scopes);

}  // namespace heapprof::cli
