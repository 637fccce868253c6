// agent/torch/operators.h: operators of PyTorch as scopes (heapprof run --torch-ops).
//
// PyTorch calls whoever asked by at::addGlobalCallback when an operator, a function of the backward pass or a range of
// the program's own (torch.profiler.record_function) begins and ends. The agent asks once the library is there, by its
// exported functions and the layout that these have had since 1.12.
//
// Guarantees
//  - PyTorch's own profiler, and whoever else asks, get what they get without us.
//  - The library is asked outside of every event, by a thread whose whole stack is known and has none of its functions:
//    no lock of its own can be held by that thread. Another thread may still be in the library's constructors.
//  - What ends in another thread than it began in ends the scope all the same.
// Not provided: operators of threads that share a ring, of those whose first one comes under a filter of system calls,
//               and those that are more than kMostOperators deep: what they allocate is that of the scope around them,
//               and they are counted (Control::operators_lost). Before glibc 2.35, those of a library that is loaded
//               again.
// Context:  threads of the program; errno is as before.
// Cost:     man heapprof-run, --torch-ops.
#pragma once

#include <cstdint>

namespace heapprof::agent {

inline constexpr uint32_t kMostOperators = 256;  // of a thread's that have begun and not ended

// A life begins: looks out for the library, if that is asked for. pre: the arena is mapped
void settle_operators();
// Forgets addresses whose objects may be gone: objects are being unloaded.
void forget_operators();

}  // namespace heapprof::agent
