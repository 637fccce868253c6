// agent/libc/vector_state.h: calls a function outside the agent, and restores vector registers and x87 state
// afterwards.
//
// The agent itself uses general registers alone. Functions of libc or of the program that it calls may use vector and
// x87 registers. A caller that was compiled with -fipa-ra may rely on the function that it called (agent/hooks/inner.h)
// to leave certain registers unchanged.
//
// Guarantees
//  - If keep_vector_state() was called before, a call leaves xmm, ymm, zmm, opmask, x87 and MXCSR unchanged
//    (tests/integration/malloc/inner_registers.sh). Otherwise it is a plain call.
// Context:  anywhere; needs 2.8 KiB of stack.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <type_traits>

namespace heapprof::agent {

// From now on call_kept() preserves vector and x87 registers. Context: the agent's start, because a program may make
// CPUID fault later (arch_prctl).
void keep_vector_state();

namespace vector_state {
using Function = size_t (*)(size_t, size_t, size_t, size_t);
// components to preserve, numbered as in XCR0; 0: none
extern "C" __attribute__((visibility("hidden"))) uint32_t heapprof_vector_parts;
extern "C" __attribute__((visibility("hidden"))) size_t heapprof_call_kept(Function function, size_t a, size_t b,
                                                                           size_t c, size_t d);
template <typename Given>
size_t word_of(Given given) {
  if constexpr (std::is_pointer_v<Given>) return reinterpret_cast<size_t>(given);
  if constexpr (!std::is_pointer_v<Given>) return static_cast<size_t>(given);
}
}  // namespace vector_state

// Calls function(a, b, c, d); it may take fewer parameters. All are one register wide.
template <typename Result, typename... Parameters, typename... Given>
inline Result call_kept(Result (*function)(Parameters...), Given... given) {
  static_assert(sizeof...(Parameters) == sizeof...(Given) && sizeof...(Given) <= 4);
  if (__builtin_expect(vector_state::heapprof_vector_parts == 0, 1)) return function(given...);
  const size_t words[4] = {vector_state::word_of(given)...};
  const auto called = reinterpret_cast<vector_state::Function>(reinterpret_cast<void*>(function));
  const size_t result = vector_state::heapprof_call_kept(called, words[0], words[1], words[2], words[3]);
  if constexpr (std::is_pointer_v<Result>) return reinterpret_cast<Result>(result);
  if constexpr (!std::is_pointer_v<Result>) return static_cast<Result>(result);
}

}  // namespace heapprof::agent
