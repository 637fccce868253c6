// shared/operators_state.h: whether the operators of a process's PyTorch are scopes: Control::operators_state.
#pragma once

#include <cstdint>

namespace heapprof::wire {

enum class OperatorsState : uint32_t {
  kNone = 0,      // no PyTorch was loaded, as far as is known
  kRecorded = 1,  // its operators are scopes
  // Not recorded, since …
  kUnknown = 2,        // … it lacks a function by which it tells of them (PyTorch before 1.12)
  kWithoutStacks = 3,  // … the stacks of --unwinder=fp do not say when it may be asked
};

}  // namespace heapprof::wire
