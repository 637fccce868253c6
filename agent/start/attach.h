// agent/start/attach.h: recording begins, and ends, while the program runs.
//
// A thread of heapprof's own in this process (cli/attach/own_thread.h) loads the agent, and calls one of two functions
// (shared/attach.h). The agent is then last in the loader's list, so no object finds its hooks by name. So the
// definitions in other objects, and their slots, are redirected to the hooks (process/redirect.h). This includes libc's
// calls of its own functions. Objects that are loaded later bind to the hooks.
//
// Guarantees
//  - After a detach nothing is recorded, and no definition and no slot of malloc's family, of mapping functions and of
//    the other hooked functions points to the agent, except for an allocator's other names (mallocx, tc_new …), which
//    stay redirected. Memory is given back, except for the agent itself and one context of each live thread, which the
//    next attach uses again. Two kinds of call still reach a hook, which forwards them: calls by these names, and calls
//    through an address that the program keeps in a variable of its own.
//  - Blocks that were allocated before the attach are not known: their ends count as those of inherited blocks.
//  - A pointer to a function that an object takes is unchanged, unless that object also calls the function through the
//    same slot (a stub of .plt.got): only slots that calls go through are patched.
// Not provided: devices of CUDA, ranges of NVTX, operators of PyTorch, programs started by posix_spawn; a call through
//               a pointer to malloc; an allocator inside the executable (kNoAllocator). What is loaded or looked up by
//               dlsym while heapprof is attached has the agent's addresses.
// Context:  a thread that libc does not know, with thread-local storage of its own and signals blocked. It waits for
//           the loader's lock and for no other, while the program's threads run on.
#pragma once

#include "shared/attach.h"

#pragma GCC visibility push(default)
extern "C" {
extern heapprof::wire::AttachThread heapprof_agent_thread;
void heapprof_agent_attach(const char* invitation, const char* agent_file, heapprof::wire::AttachAnswer* answer);
void heapprof_agent_detach(heapprof::wire::DetachAnswer* answer);
}
#pragma GCC visibility pop
