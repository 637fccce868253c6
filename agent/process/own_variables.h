// agent/process/own_variables.h: checks whether the calling thread has the agent's thread-local variables.
//
// A thread that the program made by a raw clone may have thread-local storage of its own, or none. Then it has none of
// the agent's variables. It may still call functions that need none of libc's data for a thread (mmap, sigaltstack,
// prctl, execve). Hooks of such functions check here before they touch a variable.
//
// Guarantees
//  - A thread that libc made has the variables. A thread does not have them if it has no storage, or if its storage
//    does not begin like libc's thread descriptor (tests/integration/threads/odd_threads.sh).
// Not provided: an answer for storage at an address that cannot be read; under a seccomp filter, an answer for a thread
//               without storage if the kernel does not let programs read the register (before Linux 5.9).
// Context:  anywhere. A compiler may move the read of a variable before this check: begin_own_variables() prevents
//           that.
// Cost:     some instructions; before Linux 5.9 a system call.
#pragma once

#include "agent/libc/raw.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

namespace heapprof::agent {

extern bool g_can_read_storage_register;  // by an instruction

// The address of the thread's storage, as the kernel knows it; if the kernel may not be asked, some address that is not
// 0.
uint64_t ask_storage_avma();

inline bool has_own_variables() {
  const uint64_t storage_avma = HEAPPROF_LIKELY(g_can_read_storage_register) ? storage_register() : ask_storage_avma();
  return HEAPPROF_LIKELY(storage_avma != 0) && is_storage_of_libc();
}

// To be called once a thread is known to have its variables: reads after this are not moved before it.
inline void begin_own_variables() { asm volatile("" : : : "memory"); }

// Once, at the start.
void settle_own_variables();

}  // namespace heapprof::agent

#pragma GCC visibility pop
