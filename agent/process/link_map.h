// agent/process/link_map.h: looks up dynamic symbols without the loader: no dlsym, so no allocation and no lock.
//
// Guarantees
//  - Reads the loader's list of objects and their hash tables only; the default version of a symbol wins.
//  - No look-up faults or runs for ever, whatever tool has changed the file (tests/unit/agent_process/link_map_test.cc,
//    tests/integration/loader/changed_files.sh).
// Context:  start-up; pre: no dlclose is running in another thread. find_late_behind_agent: slow paths, at any time.
// Cost:     about 1 µs for an object without the symbol (Bloom filter), 5 µs for one that has it; three times that if
//           the tables are read through the kernel.
#pragma once

#include <link.h>
#include <stddef.h>

namespace heapprof::agent {

// The first object of the loader's list: the main program. Works also before the agent is relocated (early.h); nullptr:
// not found.
const link_map* first_object();

// The address that an entry of the object's dynamic section means: glibc has added the object's base, except where the
// section is read-only.
const void* table_address(const link_map* object, ElfW(Addr) value);
// True if a read of an object's tables does not fault. is_object_text: true if that text, with its zero byte, is there.
bool can_read_object(const void* from, size_t bytes);
bool is_object_text(const char* at, const char* text);
// To be called if something may have been unmapped: the kernel is then asked about each page again.
void forget_readable_pages();

// While it exists, look-ups of this thread read each object's dynamic section only once. pre: if is_wanted, no other is
// ever made; while it exists, no signal handler runs, and nothing is unloaded.
class TablesKept {
 public:
  explicit TablesKept(bool is_wanted);
  ~TablesKept();
  TablesKept(const TablesKept&) = delete;
  TablesKept& operator=(const TablesKept&) = delete;
};

struct Definition {
  void* address = nullptr;           // nullptr: nowhere
  const link_map* object = nullptr;  // the object that defines it
};

// What dlsym(RTLD_NEXT, …) would find, called by the agent.
Definition find_behind_agent(const char* name);
// What dlvsym(RTLD_NEXT, …) would find.
Definition find_version_behind_agent(const char* name, const char* version);
// What dlsym(RTLD_DEFAULT, …) would find, without the agent: it searches from the main program on, so that copy
// relocations count.
Definition find_in_process(const char* name);

// A function of the kernel's vdso; nullptr: not found.
void* find_in_vdso(const char* name);

// glibc's own definition, even if the program or another library also defines that name.
Definition find_in_glibc(const char* name);

// A symbol that is looked up together with others. The result is its entry in the memory of the first object that has
// it.
struct SoughtSymbol {
  const char* name = nullptr;
  const char* version = nullptr;       // nullptr: the default version; else this version, hidden or not
  const ElfW(Sym) * symbol = nullptr;  // nullptr: nowhere
  const link_map* object = nullptr;
};
void find_symbols_in_process(SoughtSymbol* symbols, size_t count);
// The same in one object, for those symbols that have not been found yet.
void find_symbols_in_object(const link_map* object, SoughtSymbol* symbols, size_t count);
// True for the agent itself and the kernel's vdso, where no look-up searches.
bool is_passed_over(const link_map* object);
// True if the loader's list has libc before the agent: a running program was made to load the agent (start/attach.h).
// No object comes after the agent then. So look-ups that otherwise search the objects after the agent search all other
// objects.
bool is_loaded_late();
// From now on a look-up of a redirected definition (redirect.h) finds the original. `original` returns any other
// address unchanged.
void translate_definitions(void* (*original)(void* address));
// Finds a function that the agent exports, in the agent itself: a look-up by name may find another library's.
void* find_in_agent(const char* name);
// The agent's own object; nullptr: it is not in the list. No precondition, because neither the agent nor an object
// before it is ever unloaded.
const link_map* agent_object();

// A function of a library that may be loaded late, at any time.
struct LateFunction {
  const char* name;
  const char* version;   // nullptr: the default one
  const char* soname;    // name of the library that is meant; nullptr: any library
  bool is_data = false;  // the name is a variable's
};
// Finds the function in an object that the program started with (one that precedes the CUDA driver, say); else in the
// library that is meant; else, while that library is not loaded, in any object that has it. Also stores the answer in
// *kept if no later answer could be better: in the first two cases, or if any library will do. It may run while objects
// are unloaded: it does not take the loader's lock, and reads the loader's list as memory that may be unmapped, except
// if no system call may be made. pre: note_first_objects() was called at the start.
void* find_late_behind_agent(const LateFunction& function, void** kept);
void note_first_objects();

// True while an object of any namespace is being unloaded; glibc before 2.35 reports that for the first namespace only.
bool is_unloading();

}  // namespace heapprof::agent
