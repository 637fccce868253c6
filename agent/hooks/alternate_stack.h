// agent/hooks/alternate_stack.h: the hook of sigaltstack, by which the agent knows where signal handlers run.
#pragma once

#include <signal.h>

namespace heapprof::agent {

// Once, at the start: finds the real function.
void settle_alternate_stack_hook();

// Called after sigaltstack(installed, old) succeeded in this thread. installed: the new alternate stack; nullptr: the
// program only asked for the current one. old: where the kernel wrote the previous setting.
void note_alternate_stack(const stack_t* installed, const stack_t* old);

}  // namespace heapprof::agent
