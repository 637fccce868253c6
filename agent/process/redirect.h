// agent/process/redirect.h: leads every use of another library's function to one of ours, where that library is, and
// adds no name where it is not.
//
// A function that is exported by the agent is there for everybody: `if (mallocx) …` (a weak reference, as folly has it)
// and dlsym would find jemalloc in a program without it, and call into nothing. So such a function is not exported.
// Instead the definition in the library that has it is led to ours, in memory: the address in its symbol table, which
// the loader reads for every reference that it binds from then on, dlsym's and those of objects that come later
// included; and the slots that the loader has bound already. What the library calls itself stays with it.
//
// Tried and rejected: an indirect function (STT_GNU_IFUNC) that resolves to nullptr where the library is not there. The
// loader relocates libraries before the agent, cannot call a resolver in it then, and says so on stderr.
//
// Guarantees
//  - Only what an object's dynamic section states is read of it, and no read faults.
//  - What cannot be written is left alone: a symbol table that is mapped executable, a page that may not be
//    unprotected.
//  - Protections are afterwards what they were. Another thread reads an old or a new address, never half of one.
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
  void* real;              // where the function is; nullptr: nowhere, or it could not be led away
  const link_map* object;  // who has it
  bool is_missed = false;  // there is one, and its definition, or what was bound to it, could not be led away
};

// kStay: what a library calls itself stays with it. kLead: it is redirected to ours like all others, as if the agent
// were preloaded; but pointers to the functions, which the program may have kept elsewhere and compares, stay what they
// are.
enum class OwnCalls { kStay, kLead };

// Takes names that the agent exports from what the loader finds from now on, dlsym included; none of them where an
// object that the program starts with refers to one. sought: with the names, which are C++'s; the rest is filled in.
void withdraw_exports(SoughtSymbol* sought, size_t count);

// Fills in `real`, `object` and `is_missed` of each that it finds. sought[i]: what list[i] is looked for by.
void redirect_functions(Redirection* list, SoughtSymbol* sought, size_t count, OwnCalls own_calls = OwnCalls::kStay);

// Leads the calls that an object makes of functions of the list, by its own tables, to ours: also what is not bound
// yet, and whatever it is bound to; of slots that are no call's table's only what holds `real`. False: it makes none.
bool redirect_own_calls(const link_map* object, const Redirection* list, size_t count);

// Once more, of slots that hold `real` by now: another thread may have been binding them.
void redirect_bound(const Redirection* list, size_t count);

// Takes that back, also in objects that were loaded meanwhile. `real` stays: addresses of ours that the program keeps
// elsewhere lead to hooks that hand on. sought: what redirect_functions found.
void restore_functions(const Redirection* list, const SoughtSymbol* sought, size_t count);

}  // namespace heapprof::agent
