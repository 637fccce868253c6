// agent/start/attach.h: recording begins, and ends, while the program runs.
//
// A thread of heapprof's own in this process (cli/attach/own_thread.h) loads the agent, and calls one of two functions
// (shared/attach.h). By name no object finds the agent's hooks then, as the agent is last in the loader's list. So
// other objects' definitions are redirected to the hooks (process/redirect.h), those of libc for itself included, and
// objects that are loaded later bind to the hooks.
//
// Guarantees
//  - After a detach no definition and no slot of malloc's family, of mappings and of the others that are hooked leads
//    to the agent, nothing is recorded, and memory is given back, except for the agent itself and one context of each
//    live thread, which the next attach uses again. What still leads to a hook is forwarded: an address that the
//    program keeps in a variable of its own, and an allocator's other names (mallocx, tc_new …), which stay redirected.
//  - What was allocated before is not known: its end counts as that of an inherited block.
//  - A pointer to a function that an object takes is unchanged, unless that object also calls the function through the
//    same slot (a stub of .plt.got): only slots that calls go through are patched.
// Not provided: devices of CUDA, ranges of NVTX, operators of PyTorch, programs started by posix_spawn; a call through
//               a pointer to malloc; an allocator inside the executable (kNoAllocator). What is loaded or looked up by
//               dlsym while heapprof is attached has the agent's addresses.
// Context:  a thread with thread-local storage of its own, signals blocked, that is in no list of libc's. It waits for
//           the loader's lock and for no other, while the program's threads run on.
#pragma once

#include "shared/attach.h"

extern "C" {
extern heapprof::wire::AttachThread heapprof_agent_thread;
void heapprof_agent_attach(const char* invitation, const char* agent_file, heapprof::wire::AttachAnswer* answer);
void heapprof_agent_detach(heapprof::wire::DetachAnswer* answer);
}
