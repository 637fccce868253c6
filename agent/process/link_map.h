// agent/process/link_map.h: looks up dynamic symbols without the loader: no dlsym, so no allocation, and no lock except
// where it is said.
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

// What dlsym(RTLD_NEXT, …) would find, called by the agent.
Definition find_behind_agent(const char* name);
// What dlsym(RTLD_DEFAULT, …) would find, without the agent: it searches from the main program on, so that copy
// relocations count.
Definition find_in_process(const char* name);

// A function of a library that may be loaded late, at any time.
struct LateFunction {
  const char* name;
  const char* version;  // nullptr: the default one
  const char* soname;   // of the library that is meant; nullptr: any
};
// Finds the function in an object that the program started with (one that stands before the CUDA driver, say); else in
// the library that is meant; else, while that is not there, in any object that has it. waits: a dlclose in another
// thread is waited for. The answer is also stored in *kept if no later one could be better: the first two cases, or
// where any library will do. pre: note_first_objects(), at the start.
void* find_late_behind_agent(const LateFunction& function, void** kept, bool waits);
void note_first_objects();

// The loader's state (RT_CONSISTENT, RT_ADD, RT_DELETE); unloading calls free while it is RT_DELETE.
inline bool is_unloading() { return _r_debug.r_state == r_debug::RT_DELETE; }

}  // namespace heapprof::agent
