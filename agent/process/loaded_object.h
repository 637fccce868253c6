// agent/process/loaded_object.h: finds the object that is mapped at an address, and reads its headers in memory.
//
// Guarantees
//  - Reads the loader's own data and mapped headers only; opens no file, takes no lock.
// Not provided: objects in other namespaces (dlmopen) where libc has no _dl_find_object (glibc before 2.35).
// Context:  slow paths. pre: no dlclose of the object that holds the address is running in another thread.
#pragma once

#include "agent/process/modules.h"

#include <link.h>

#include <cstdint>

// Variables are accessed directly, not through the GOT.
#pragma GCC visibility push(hidden)

namespace heapprof::agent {

struct LoadedObject {
  ModuleInfo info;
  uint64_t bias;            // avma − svma
  const char* path;         // as the loader knows it; empty: the main program
  const uint8_t* build_id;  // in the object's own notes
  uint32_t build_id_bytes;  // 0: none
};

struct ProgramHeaders {
  const ElfW(Phdr) * first = nullptr;  // nullptr: they are not known
  uint32_t count = 0;
};
ProgramHeaders headers_of_object(const link_map* map);
// The headers of the file whose beginning is mapped there; empty if no file begins there, or if nothing says that its
// headers are mapped.
ProgramHeaders headers_at(uint64_t start_avma);

// Looks up _dl_find_object, and where the loader itself is. Call once, before find_object, while no other thread
// unloads anything.
void init_find_object();
bool find_object(uint64_t pc_avma, LoadedObject* object);
// True if the address lies in an object that is loaded. No preconditions. Also false if libc has no _dl_find_object.
bool is_surely_loaded(const void* address);
// True if libc has _dl_find_object.
bool can_tell_loaded();

// The loader frees memory while it unloads an object, so the hook of `free` can notice the unload.
extern uint64_t g_loader_start_avma;
extern uint64_t g_loader_bytes;  // 0: not known yet
inline bool is_loader(uint64_t pc_avma) { return pc_avma - g_loader_start_avma < g_loader_bytes; }
// Sets a stored address to nullptr if its object may be gone.
void forget_unloaded(void** address);

}  // namespace heapprof::agent

#pragma GCC visibility pop
