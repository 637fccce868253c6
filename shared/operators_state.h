// shared/operators_state.h: whether the operators of a process's PyTorch are scopes: Control::operators_state.
#pragma once

#include <cstdint>

namespace heapprof::wire {

enum class OperatorsState : uint32_t {
  kNone = 0,      // no PyTorch was loaded, as far as is known
  kRecorded = 1,  // its operators are scopes
  kUnknown = 2,   // its operators are not scopes: it lacks the function that reports them (PyTorch before 1.12)
};

}  // namespace heapprof::wire
