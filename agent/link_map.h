// agent/link_map.h: looks up dynamic symbols without the loader: no dlsym, so no lock, no allocation and no dl_iterate_phdr.
//
// Guarantees
//  - Reads the loader's list of objects and their hash tables only; the default version of a symbol wins.
// Context:  start-up and slow paths. pre: no dlclose is running in another thread.
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
// The same for functions: variables of that name are passed over.
Definition find_function_behind_agent(const char* name);
// Functions of that version, and those of objects without versions: what a reference with that version is bound to.
Definition find_version_behind_agent(const char* name, const char* version);
// As dlsym(RTLD_DEFAULT, …): from the main program on, so that copy relocations are honoured; skips the agent.
Definition find_in_process(const char* name);

// The loader's state (RT_CONSISTENT, RT_ADD, RT_DELETE); unloading calls free while it is RT_DELETE.
inline bool is_unloading() { return _r_debug.r_state == r_debug::RT_DELETE; }

}  // namespace heapprof::agent
