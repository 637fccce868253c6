// agent/process/redirect.h: redirects every use of another library's function to the agent's if that library is loaded,
// and adds no name if it is not.
//
// A function that the agent exports is visible to every object: `if (mallocx) …` (a weak reference, as folly has it)
// and dlsym would find jemalloc in a program without it, and call into nothing. So such a function is not exported.
// Instead the agent patches the library that has it, in memory: the address in its symbol table entry, which the loader
// reads for every reference that it binds from then on, dlsym's and those of objects that are loaded later included;
// and the GOT/PLT slots that the loader has bound already. The library's calls of itself are not redirected.
//
// Tried and rejected: an indirect function (STT_GNU_IFUNC) that resolves to nullptr if the library is not loaded. The
// loader relocates libraries before the agent, cannot call a resolver in it then, and says so on stderr.
//
// Guarantees
//  - Only what an object's dynamic section states is read of it, and no read faults.
//  - What cannot be written is left alone: a symbol table that is mapped executable, a page that may not be
//    unprotected.
//  - Protections are restored afterwards. Another thread reads an old or a new address, never half of one.
// Not provided: functions that the main program defines, and those of libraries that are loaded later; a reference that
// another thread binds at this very moment; other namespaces (dlmopen).
// Context:  start-up, once all objects that the program starts with are relocated. pre: no dlclose in another thread.
// Cost:     4 µs an object for 130 functions, and a reading of its relocations that name a symbol, and of their slots.
#pragma once

#include "agent/process/link_map.h"

#include <link.h>
#include <stddef.h>

namespace heapprof::agent {

struct Redirection {
  const char* name;
  void* to;
  void* real;              // where the function is; nullptr: nowhere, or it could not be redirected
  const link_map* object;  // that has it
  bool is_missed = false;  // it exists, and its definition, or what was bound to it, could not be redirected
};

// kStay: a library's calls of itself are not redirected. kLead: they are redirected like all others, as if the agent
// were preloaded; but pointers to the functions, which the program may have kept elsewhere and compares, are unchanged.
enum class OwnCalls { kStay, kLead };

// From now on the loader, dlsym included, does not find these names that the agent exports; all of them stay if an
// object that the program starts with refers to one. sought: with the names, which are C++'s; the rest is filled in.
void withdraw_exports(SoughtSymbol* sought, size_t count);

// Fills in `real`, `object` and `is_missed` of each that it finds. sought[i]: what list[i] is looked for by.
void redirect_functions(Redirection* list, SoughtSymbol* sought, size_t count, OwnCalls own_calls = OwnCalls::kStay);

// Redirects the calls that an object makes, through its own tables, of functions of the list: also slots that are not
// bound yet, and whatever they are bound to. A slot outside the table of calls is redirected only if it holds `real`.
// False: it makes no such call.
bool redirect_own_calls(const link_map* object, const Redirection* list, size_t count);

// Redirects slots that hold `real` by now: another thread may have been binding them.
void redirect_bound(const Redirection* list, size_t count);

// Restores the definitions and the slots, also in objects that were loaded since. `real` stays: addresses of hooks that
// the program keeps elsewhere lead to hooks that forward. sought: what redirect_functions found.
void restore_functions(const Redirection* list, const SoughtSymbol* sought, size_t count);

}  // namespace heapprof::agent
