// agent/hooks/alternate_stack.h: the hook of sigaltstack, by which the agent knows where signal handlers run.
#pragma once

#include <signal.h>

namespace heapprof::agent {

// Once, at the start: finds the real function.
void settle_alternate_stack_hook();

// The kernel has installed an alternate stack for this thread. installed: nullptr: it was only asked; old: where it
// wrote the one before.
void note_alternate_stack(const stack_t* installed, const stack_t* old);

}  // namespace heapprof::agent
