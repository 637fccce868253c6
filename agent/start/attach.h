// agent/start/attach.h: recording begins, and ends, while the program runs.
//
// A thread of heapprof's own in this process (cli/attach/own_thread.h) loads the agent, and calls one of two functions
// (shared/attach.h). Nobody finds our hooks by their names then, as the agent is the last of the loader's
// list: so the definitions that others have are led to them (process/redirect.h), those of libc for itself included,
// and objects that are loaded later bind to ours.
//
// Guarantees
//  - After a detach no definition and no slot of malloc's family, of mappings and of the others that are hooked leads
//    to the agent, nothing is recorded, and what that took is given back, but for the agent itself and for one context
//    of each thread that lives, which the next attach uses again. What still leads there hands on: an address that the
//    program keeps in a variable of its own, and an allocator's other names (mallocx, tc_new …), which stay led.
//  - What was allocated before is not known: its end counts as that of an inherited block.
//  - A pointer to a function that an object takes is what it was, unless that object also calls the function through
//    the same slot (a stub of .plt.got): only what calls go through is led.
// Not provided: devices of CUDA, ranges of NVTX, operators of PyTorch, programs started by posix_spawn; a call through
//               a pointer to malloc; an allocator inside the executable (kNoAllocator). What is loaded or looked up by
//               dlsym while heapprof is attached has our addresses.
// Context:  a thread with thread-local storage of its own, signals blocked, that no list of libc's has. It waits for
//           the loader's lock and for no other, while the program's threads run on.
#pragma once

#include "shared/attach.h"

extern "C" {
extern heapprof::wire::AttachThread heapprof_agent_thread;
void heapprof_agent_attach(const char* invitation, const char* agent_file, heapprof::wire::AttachAnswer* answer);
void heapprof_agent_detach(heapprof::wire::DetachAnswer* answer);
}
