// agent/process/early.h: functions that work before the loader has relocated the agent, and without symbols that a
// program may have replaced.
//
// The loader relocates libraries before those that it preloads, and calls resolvers of indirect functions (IFUNC) while
// it does. A resolver that calls malloc, getenv or mmap reaches the agent's hook at that time. In the hook no pointer
// holds an address yet, no variable of libc is known, and a write to a thread-local variable would overwrite the
// thread's control block. Until the agent is relocated, each hook does what would happen without the agent: it calls
// the next definition of the function, unrecorded.
//
// A program, or a library before libc, may define getauxval and _r_debug itself, and a look-up by name would find
// those. So the agent finds both by the auxiliary vector that the kernel gave the process.
//
// Context:  any hook; before is_relocated() the process has one thread, on the stack that the kernel gave it.
// Cost:     is_relocated: two instructions. find_early: some 10 µs; so is the first call of the others.
#pragma once

#include "agent/process/loaded_object.h"

#include <link.h>

#pragma GCC visibility push(hidden)

// Holds its own address once the agent is relocated. Read by assembly, too.
extern "C" const void* const volatile heapprof_own_address;

namespace heapprof::agent {

inline bool is_relocated() { return heapprof_own_address == &heapprof_own_address; }

// The loader's own state. nullptr: it cannot be found (before the agent is relocated).
const r_debug* loader_state();
// The program's headers, as the kernel (or a loader that was started as a command) reports them; {}: not found.
ProgramHeaders headers_of_program();
// What the kernel reports about the processor (AT_HWCAP2). 0: it reports nothing.
uint64_t processor_flags();

// The function that would be called without the agent; if no library has it, one that returns -1.
void* find_early(const char* name);

}  // namespace heapprof::agent

#pragma GCC visibility pop
