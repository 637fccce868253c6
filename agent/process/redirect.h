// agent/process/redirect.h: if another library is loaded, redirects every use of its function to the agent's; if it is
// not loaded, adds no name.
//
// A function that the agent exports is visible to every object. `if (mallocx) …` (a weak reference, as folly has it)
// and dlsym would find jemalloc's function in a program without jemalloc, and the call would lead nowhere. So such a
// function is not exported. Instead, the agent patches the library that has it, in memory. It patches the address in
// the library's symbol table entry: the loader reads this address for every reference that it binds from then on,
// including dlsym's and those of objects that are loaded later. And it patches the GOT/PLT slots that the loader has
// bound already. The library's calls of itself are not redirected.
//
// Tried and rejected: an indirect function (STT_GNU_IFUNC) that resolves to nullptr if the library is not loaded. The
// loader relocates libraries before the agent, cannot call a resolver in it then, and says so on stderr.
//
// Guarantees
//  - The agent reads only what an object's dynamic section names, and no read faults.
//  - What cannot be written is left alone: a symbol table that is mapped executable, a page that may not be
//    unprotected.
//  - Protections are restored afterwards. Another thread reads an old or a new address, never half of one.
// Not provided: functions that the main program defines, and those of libraries that are loaded later; a reference that
// another thread binds at this very moment; other namespaces (dlmopen).
// Context:  start-up, once all objects that the program starts with are relocated. pre: no dlclose in another thread.
// Cost:     for each object, 4 µs if the list has 130 functions, and a read of its relocations that name a symbol, and
//           of their slots.
#pragma once

#include "agent/process/link_map.h"

#include <link.h>
#include <stddef.h>

namespace heapprof::agent {

struct Redirection {
  const char* name;
  void* to;
  void* real;              // the function; nullptr: it does not exist, or could not be redirected
  const link_map* object;  // the object that has it
  bool is_missed = false;  // the function exists, but its definition, or what was bound to it, could not be redirected
};

// kStay: a library's calls of itself are not redirected. kRedirect: they are redirected like all others, as if the
// agent were preloaded. But pointers to the functions are unchanged, because the program may have stored and may
// compare them.
enum class OwnCalls { kStay, kRedirect };

// Withdraws these names, which the agent exports: from now on the loader, dlsym included, does not find them. If an
// object that the program starts with refers to one of them, all of them stay. sought: holds the names, which are
// C++'s; the rest is filled in.
void withdraw_exports(SoughtSymbol* sought, size_t count);

// Fills in `real`, `object` and `is_missed` of each that it finds. sought[i]: the name and version by which list[i] is
// looked up.
void redirect_functions(Redirection* list, SoughtSymbol* sought, size_t count, OwnCalls own_calls = OwnCalls::kStay);

// Redirects the calls of functions of the list that an object makes through its own tables. This includes slots that
// are not bound yet, and it does not matter what a slot is bound to. A slot outside the table of calls is redirected
// only if it holds `real`. False: the object makes no such call.
bool redirect_own_calls(const link_map* object, const Redirection* list, size_t count);

// Redirects slots that hold `real`, again: another thread may have bound them in the meantime.
void redirect_bound(const Redirection* list, size_t count);

// Restores the definitions and the slots, also in objects that were loaded since. `real` stays set, because the program
// may have stored addresses of hooks elsewhere, and these hooks forward to it. sought: what redirect_functions found.
void restore_functions(const Redirection* list, const SoughtSymbol* sought, size_t count);

}  // namespace heapprof::agent
