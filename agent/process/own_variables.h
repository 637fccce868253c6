// agent/process/own_variables.h: does the calling thread have the agent's thread-local variables?
//
// A thread that the program made by a raw clone may have storage of its own, or none, and call functions that need
// nothing of libc's for a thread (mmap, sigaltstack, prctl, execve): it has none of the agent's variables. Hooks of
// such functions ask here before they touch one.
//
// Guarantees
//  - A thread of libc's has them; one whose storage does not begin like libc's thread descriptor does not, nor does one
//    without storage (tests/integration/threads/odd_threads.sh).
// Not provided: an answer for storage at an address that cannot be read; nor, under a seccomp filter, for a thread
//               without storage where the kernel does not let programs read the register (before Linux 5.9).
// Context:  anywhere. A compiler may read a variable before it has the answer: begin_own_variables() keeps it from
//           that.
// Cost:     some instructions; before Linux 5.9 a system call.
#pragma once

#include "agent/libc/raw.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

namespace heapprof::agent {

extern bool g_can_read_storage_register;  // by an instruction

// The address of the thread's storage, as the kernel has it; where it may not be asked, one that is not 0.
uint64_t ask_storage_avma();

inline bool has_own_variables() {
  const uint64_t storage_avma = HEAPPROF_LIKELY(g_can_read_storage_register) ? storage_register() : ask_storage_avma();
  return HEAPPROF_LIKELY(storage_avma != 0) && is_storage_of_libc();
}

// If a thread has its variables: what is read after this is not read before it.
inline void begin_own_variables() { asm volatile("" : : : "memory"); }

// Once, at the start.
void settle_own_variables();

}  // namespace heapprof::agent

#pragma GCC visibility pop
