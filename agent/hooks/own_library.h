// agent/hooks/own_library.h: the agent as NVTX loads it: by a path that dlopen knows, and without the loader.
//
// A library that uses NVTX asks getenv for the path of a tool, opens it by dlopen and asks dlsym for a function. The
// real dlopen allocates on the program's heap; if a program makes its first NVTX call in a signal handler or under a
// seccomp filter, that harms it. The agent is loaded already, so the answer of dlopen is known.
//
// Guarantees
//  - Nothing is allocated, no lock is taken, no system call made.
//  - The path is recognised by its address: a caller that names the agent by another string gets the loader's answer.
//  - Whatever the library does with the handle is right: it is the program's own, in whose scope the agent's names are.
//    (The loader gives a preloaded object no scope of its own before it is really opened: with the agent's own handle
//    the real dlsym would follow a null pointer.)
#pragma once

#include <link.h>

namespace heapprof::agent {

// The path that dlopen recognises; "" until a path is given. `path` is kept from the first time on.
const char* own_library_path(const char* path);

// What dlopen gives for it: the handle of the program. nullptr: the loader's list does not have the agent.
const link_map* own_library();

// Replaces dlopen.
void* open_own_library(const char* path, int flags);

}  // namespace heapprof::agent
