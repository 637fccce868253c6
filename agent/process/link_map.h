// agent/process/link_map.h: looks up dynamic symbols without the loader: no dlsym, so no allocation, and no lock except where it is said.
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

// A function of a library that may be loaded late, at any time.
struct LateFunction {
  const char* name;
  const char* version;  // nullptr: the default one
  const char* soname;   // of the library that is meant; nullptr: any
};
// Of the objects that the program started with, as of one that stands before the CUDA driver; else of the library that is meant; else,
// as long as that is not there, of any that has it. waits: for a dlclose in another thread. What is certain, or found where
// any will do, is stored in *kept. pre: note_first_objects(), at the start.
void* find_late_behind_agent(const LateFunction& function, void** kept, bool waits);
void note_first_objects();

// The loader's state (RT_CONSISTENT, RT_ADD, RT_DELETE); unloading calls free while it is RT_DELETE.
inline bool is_unloading() { return _r_debug.r_state == r_debug::RT_DELETE; }

}  // namespace heapprof::agent
