// agent/torch/operators.h: PyTorch operators as scopes (heapprof run --torch-ops).
//
// PyTorch calls the callbacks registered with at::addGlobalCallback when an operator, a function of the backward pass
// or a range of the program (torch.profiler.record_function) begins and ends. Once the library is loaded, the agent
// registers through the library's exported functions, with the layout that their parameters have had since 1.12.
//
// Guarantees
//  - PyTorch's own profiler and other subscribers get the same calls as without the agent.
//  - The agent calls the library outside every event, on a thread whose whole stack is known and has no function of the
//    library: so that thread holds no lock of the library. Another thread may still be in the library's constructors.
//  - An operator that ends in a different thread than it began in still ends its scope.
// Not provided: operators of threads that share a ring, or whose first operator comes under a seccomp filter; operators
//               nested more than kMostOperators deep. The allocations of such operators count for the enclosing scope,
//               and the operators are counted (Control::operators_lost). Before glibc 2.35, operators of a library that
//               is loaded again.
// Context:  threads of the program; errno is unchanged.
// Cost:     man heapprof-run, --torch-ops.
#pragma once

#include <cstdint>

namespace heapprof::agent {

inline constexpr uint32_t kMostOperators = 256;  // per thread, begun and not ended

// At the start of a session: watches for the library, if the user asked for that. pre: the arena is mapped
void settle_operators();
// Call when objects are being unloaded: forgets addresses whose objects may be gone.
void forget_operators();

}  // namespace heapprof::agent
