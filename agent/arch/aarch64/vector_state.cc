// agent/arch/aarch64/vector_state.cc: every call is a plain one. Callers that know which registers a function leaves
// alone call functions inside the executable, and none of those is hooked here (inner.cc).
#include "agent/libc/vector_state.h"

uint32_t heapprof::agent::vector_state::heapprof_vector_parts = 0;

size_t heapprof::agent::vector_state::heapprof_call_kept(Function function, size_t a, size_t b, size_t c, size_t d) {
  return function(a, b, c, d);
}

namespace heapprof::agent {

void keep_vector_state() {}

}  // namespace heapprof::agent
