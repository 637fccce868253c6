// agent/hooks/operator_new.h: hooks of operator new and delete, which either record or tail-call the real operator.
//
// A block must be recorded only once; where depends on the object that defines operator new. If it also defines malloc
// (tcmalloc, jemalloc, mimalloc), new does not call malloc, so new and delete record. Otherwise (libstdc++, a program's
// own replacement) new calls malloc, which records, and the agent's symbol is only a jump. A jump has no frame and sets
// no flag, so a throwing new_handler or a pool's `new` has nothing of the agent on the stack.
//
// Guarantees
//  - A jump goes to what a call would have reached without the agent: the next definition after the agent.
//  - If nothing defines an operator at the start, the agent withdraws its own symbol. Libraries that bring their own
//    operator (a pool's, a C++ runtime that is linked into a plugin) are then bound by the loader as they would be
//    without the agent.
// Cost:     a jump through memory.
#pragma once

#include "agent/process/redirect.h"

#include <link.h>

#include <cstdint>

namespace heapprof::agent {

// Called once, at the start: finds the operators that are loaded. None is recorded yet. malloc_object: the object that
// defines malloc.
void find_new_functions(const link_map* malloc_object);
// Called once after that: if an operator has no definition other than the agent's, the loader no longer finds the
// agent's. pre: system calls may be made.
void withdraw_new_functions();
// What a trial found. Bit i: operator i of operator_new.def has to record, because no other hook sees its blocks.
struct NewTrial {
  uint32_t records;
};
// Calls the operators of the object that serves malloc. Context: a copy of the process, see agent/start/self_test.cc.
NewTrial try_new_hooks();
void settle_new_hooks(const NewTrial& trial);
bool is_new_recorded();
// For agent/hooks/own_calls.h: fills in how the allocator's calls of its own operators are redirected (`list`) and
// restored (`back`). Leaves out operators that the allocator lacks or that the program replaces. Returns the number of
// entries.
inline constexpr size_t kNewOperators = 20;
size_t list_own_new(Redirection* list, Redirection* back);
// Called after that: from now on hooks call these operators so that the calls which an operator makes of its allocator
// are not recorded.
void pass_own_new();
// Called while an object is being unloaded: forgets operators that may be gone. They are looked up again at the next
// call.
void forget_new_functions();

}  // namespace heapprof::agent
