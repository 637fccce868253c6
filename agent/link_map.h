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

// Of the CUDA driver or runtime (soname), which may be loaded late, and with stubs of others' around it: a function of an object that
// the program started with, as of a library that stands before the driver; else of the object of that name; else of any. version
// nullptr: the default one. A dlclose in another thread is waited for. pre: note_first_objects(), at the start.
Definition find_cuda_behind_agent(const char* name, const char* version, const char* soname);
void note_first_objects();
// In a forked child: a thread that it has not may have left it the loader's lock. From now on nothing is waited for.
void leave_loader_lock();

// The loader's state (RT_CONSISTENT, RT_ADD, RT_DELETE); unloading calls free while it is RT_DELETE.
inline bool is_unloading() { return _r_debug.r_state == r_debug::RT_DELETE; }

}  // namespace heapprof::agent
