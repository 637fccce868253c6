// agent/start/attach.h: recording begins, and ends, while the program runs.
//
// heapprof loads the agent into the process and calls one of two functions (shared/attach.h), on a thread of the
// program that it has stopped. Nobody finds our hooks by their names then, as the agent is the last of the loader's
// list: so the definitions that others have are led to them (process/redirect.h), those of libc for itself included,
// and objects that are loaded later bind to ours.
//
// Guarantees
//  - After a detach no definition and no slot of malloc's family, of mappings and of the others that are hooked leads
//    to the agent, nothing is recorded, and what that took is given back, but for the agent itself and for one context
//    of each thread that lives, which the next attach uses again. What still leads there hands on: an address that the
//    program keeps in a variable of its own, and an allocator's other names (mallocx, tc_new …), which stay led.
//  - What was allocated before is not known: its end counts as that of an inherited block.
// Not provided: devices of CUDA, ranges of NVTX, operators of PyTorch, programs started by posix_spawn; a call through
//               an address of malloc that the program took before; an allocator inside the executable (kNoAllocator).
// Context:  on a thread of the program that holds no lock of libc's, the loader's or the allocator's, signals blocked.
#pragma once

#include "shared/attach.h"

extern "C" {
void heapprof_agent_attach(const char* invitation, const char* agent_file, heapprof::wire::AttachAnswer* answer);
void heapprof_agent_detach(heapprof::wire::DetachAnswer* answer);
}
