// agent/hooks/late_real.h: the real function of a hook whose library may be loaded at any time.
#pragma once

#include "agent/process/link_map.h"
#include "agent/process/loaded_object.h"

#include <errno.h>

namespace heapprof::agent {

struct LateReal {
  const char* name;
  void* function = nullptr;  // set when it is first found
};

// nullptr: no library has it. Leaves errno as it was.
inline void* find_real_now(LateReal* real) {
  void* function = __atomic_load_n(&real->function, __ATOMIC_ACQUIRE);
  if (function == nullptr) {
    const int before = errno;
    function = find_late_behind_agent({real->name, nullptr, nullptr}, &real->function);
    errno = before;
  }
  return function;
}

// Calls the real function with errno as it was. False: no library has it.
template <typename... Arguments>
[[gnu::always_inline]] inline bool forward(LateReal* real, Arguments... arguments) {
  void* const function = find_real_now(real);
  if (function != nullptr) reinterpret_cast<void (*)(Arguments...)>(function)(arguments...);
  return function != nullptr;
}

// To be called while objects are being unloaded: forgets those functions whose object is gone.
template <size_t kCount>
inline void forget_unloaded(LateReal (&reals)[kCount]) {
  for (LateReal& real : reals) forget_unloaded(&real.function);
}

}  // namespace heapprof::agent
