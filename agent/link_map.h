// agent/link_map.h: looks up dynamic symbols without the loader: no dlsym, so no allocation, and no lock except where it is said.
//
// Guarantees
//  - Reads the loader's list of objects and their hash tables only; the default version of a symbol wins.
// Context:  start-up and slow paths. pre: no dlclose is running in another thread, except where it is said.
// Cost:     about 1 µs an object without the symbol (Bloom filter), 5 µs where it is.
#pragma once

#include <link.h>

namespace heapprof::agent {

struct Definition {
  void* address = nullptr;           // nullptr: nowhere
  const link_map* object = nullptr;  // who defines it
};

// As dlsym(RTLD_NEXT, …) called by the agent.
Definition find_behind_agent(const char* name);
// As dlsym(RTLD_DEFAULT, …): from the main program on, so that copy relocations are honoured; skips the agent.
Definition find_in_process(const char* name);

// A function of a library that may be loaded late, at any time; waits: for a dlclose in another thread. Of the objects that the
// program started with, as of one that stands before the CUDA driver; else of the object of that soname (nullptr: none is meant), since
// others may have stubs of their own; else of any. version nullptr: the default one. pre: note_first_objects(), at the start.
Definition find_late_behind_agent(const char* name, const char* version, const char* soname, bool waits);
void note_first_objects();

// The loader's state (RT_CONSISTENT, RT_ADD, RT_DELETE); unloading calls free while it is RT_DELETE.
inline bool is_unloading() { return _r_debug.r_state == r_debug::RT_DELETE; }

}  // namespace heapprof::agent
