// agent/hooks/operator_new.h: operator new and delete: recorded, or tail-called.
//
// The object that defines operator new decides what counts once. If it also defines malloc (tcmalloc, jemalloc,
// mimalloc), new does not call malloc, and new and delete record. Otherwise (libstdc++, a program's own replacement)
// new calls malloc, which records, and the agent's symbol is a jump: no frame, no flag, so that a throwing new_handler
// or a pool's `new` meets nothing of the agent's.
//
// Guarantees
//  - A jump goes to what a call would have reached without the agent: the next definition behind the agent.
//  - The agent withdraws an operator that nothing defines at the start: libraries that bring their own (a pool's, a C++
//    runtime that is linked into a plugin) are bound by the loader, each to the one that it would have without the
//    agent.
// Cost:     a jump through memory.
#pragma once

#include "agent/process/redirect.h"

#include <link.h>

#include <cstdint>

namespace heapprof::agent {

// Once, at the start: finds what is loaded; nothing is recorded so far. malloc_object: the object that defines malloc.
void find_new_functions(const link_map* malloc_object);
// After that, once: the loader no longer finds an operator of the agent's that has no definition behind it. pre: system
// calls may be made.
void withdraw_new_functions();
// What a trial found. Bit i: operator i of operator_new.def has to record, as no call of it is seen elsewhere.
struct NewTrial {
  uint32_t records;
};
// Calls the operators of the object that serves malloc. Context: a copy of the process, see agent/start/self_test.cc.
NewTrial try_new_hooks();
void settle_new_hooks(const NewTrial& trial);
bool is_new_recorded();
// For agent/hooks/own_calls.h: how calls that the allocator makes of its operators are redirected and restored, for the
// operators that it has and the program does not replace. Returns their number.
inline constexpr size_t kNewOperators = 20;
size_t list_own_new(Redirection* list, Redirection* back);
// After that: from here on hooks call these so that what they call of the allocator passes through.
void pass_own_new();
// An object is being unloaded: what was found may be gone; it is looked up again at the next call.
void forget_new_functions();

}  // namespace heapprof::agent
