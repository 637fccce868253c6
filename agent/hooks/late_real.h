// agent/hooks/late_real.h: the real function behind a hook whose library may be loaded at any time.
#pragma once

#include "agent/process/link_map.h"
#include "agent/process/loaded_object.h"

#include <errno.h>

namespace heapprof::agent {

struct LateReal {
  const char* name;
  void* function = nullptr;  // once it was called
};

// Calls it as it was meant, with errno as it was; where there is none, there was nothing to be called.
template <typename... Arguments>
[[gnu::always_inline]] inline void forward(LateReal* real, Arguments... arguments) {
  void* function = __atomic_load_n(&real->function, __ATOMIC_ACQUIRE);
  if (function == nullptr) {
    const int before = errno;
    function = find_late_behind_agent({real->name, nullptr, nullptr}, &real->function);
    errno = before;
  }
  if (function != nullptr) reinterpret_cast<void (*)(Arguments...)>(function)(arguments...);
}

// Objects are being unloaded: forgets those of the functions that are gone.
template <size_t kCount>
inline void forget_unloaded(LateReal (&reals)[kCount]) {
  for (LateReal& real : reals) forget_unloaded(&real.function);
}

}  // namespace heapprof::agent
