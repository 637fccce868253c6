// agent/hooks/own_library.h: answers NVTX's dlopen of the agent without the loader: dlopen's hook recognises the path.
//
// A library that uses NVTX asks getenv for the path of a tool, opens the tool by dlopen and asks dlsym for a function.
// The real dlopen allocates on the program's heap. That is unsafe if the program makes its first NVTX call in a signal
// handler or under a seccomp filter. The agent is loaded already, so dlopen's answer is known.
//
// Guarantees
//  - Nothing is allocated, no lock is taken, no system call made.
//  - The path is recognised by its address: a caller that names the agent by another string gets the loader's answer.
//  - The library can use the handle like any other: it is the program's own handle, and the agent's names are in the
//    program's scope. (The agent's own handle would not do: the loader gives a preloaded object no scope of its own
//    before it is really opened, so the real dlsym would follow a null pointer.)
#pragma once

#include <link.h>

namespace heapprof::agent {

// Returns the path that dlopen recognises: the first `path` that was given and is not empty; "" until then.
const char* own_library_path(const char* path);

// The handle that dlopen returns for this path: the program's. nullptr: the loader's list does not have the agent.
const link_map* own_library();

// Called instead of dlopen for this path.
void* open_own_library(const char* path, int flags);

}  // namespace heapprof::agent
