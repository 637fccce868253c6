// agent/hooks/own_library.h: the agent as NVTX loads it: by a path that dlopen knows, and without the loader.
//
// A library that uses NVTX asks getenv for the path of a tool, opens it by dlopen and asks dlsym for a function. The
// real dlopen allocates: on the program's heap, and where a program makes its first call of NVTX in a signal handler or
// behind a filter of system calls, at its cost. The agent is there already, so dlopen has its answer.
//
// Guarantees
//  - Nothing is allocated, no lock is taken, no system call made.
//  - The path is known by its address: whoever names the agent by a text of their own gets the loader's answer.
//  - Whatever the library does with the handle is right: it is the program's own, in whose scope the agent's names are.
//    (The loader gives a preloaded object no scope of its own before somebody really opens it: with that one's handle
//    the real dlsym would follow a null pointer.)
#pragma once

#include <link.h>

namespace heapprof::agent {

// Where the path stands that dlopen knows; "" until a path is given. `path` is kept from the first time on.
const char* own_library_path(const char* path);

// What dlopen gives for it: the handle of the program. nullptr: the loader's list does not have the agent.
const link_map* own_library();

// In the place of dlopen.
void* open_own_library(const char* path, int flags);

}  // namespace heapprof::agent
