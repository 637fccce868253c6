// agent/record/abandoned.h: was an event that is in progress interrupted, or abandoned (left by a jump)?
//
// Guarantees
//  - True is a proof. False proves nothing: the event is treated as interrupted.
// Not provided: events of coroutines that a signal handler switches away in the middle (agent/README.md, "Limits,
// stated").
//
// Context:  begin_event_slow, signal handlers too. No system call, no lock.
#pragma once

#include "agent/process/thread_stacks.h"

#include <cstdint>

namespace heapprof::agent {

// Where an event begins: the stack pointer of its hook's caller, and a stack pointer in the hook.
struct EventStart {
  uint64_t sp;
  uint64_t own_sp;
};

// True if it is certain that the event that began at old_sp will not resume, because another one begins at `start`.
bool is_abandoned(const ThreadStacks& stacks, uint64_t old_sp, const EventStart& start);

// As is_abandoned, by another proof: it reads the stack between the two stack pointers. For use when no further context
// is left.
bool leads_nowhere(const ThreadStacks& stacks, uint64_t old_sp, const EventStart& start);

}  // namespace heapprof::agent
