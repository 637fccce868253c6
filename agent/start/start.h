// agent/start/start.h: how the agent starts in a process and in a forked child, and what else must reach all of its
// parts.
//
// This is the one header that lower parts include from above: hooks and records begin a session of the agent, or report
// that code is being unloaded or that a filter is coming; start.cc calls each part that has to know.
//
// Guarantees
//  - No thread, no signal handler, no descriptor that stays open, nothing at exit (but `end.h`, and `cuda/gpu_time.h`,
//    where they were asked for), no lock that a fork could leave locked.
//
// Context:  start-up, first allocation after fork, dlclose, prctl.
#pragma once

#include "agent/process/state.h"

#include <link.h>

namespace heapprof::agent {

// Finds the real functions; once. Every hook's pointer leads here until it is done.
void resolve_real_functions();

// Starts recording in this process if a collector wants it. Returns true if events can be recorded now.
bool start_life();

// The same in a process that ran before the agent was there, or has recorded before, for an invitation that came just
// now.
// pre: nothing is recorded, and end_life() has ended what was before.
bool start_late_life();
// Ends recording, and gives back what that took. False: a thread was in the middle of an event for a second, and that
// memory stays. pre: a session has begun.
bool end_life();
// Finds out what counts once, unless that is known (self_test.h). pre: resolve_real_functions()
void try_allocator_once();
// The object that serves malloc, if its functions can be called. pre: resolve_real_functions()
const link_map* malloc_object();

// The calling process was just forked, by a call of this thread. If that interrupted an event of the agent, a session
// begins at once: the rest of that event must not reach the parent's rings. And if a vfork child allocates before this
// process has, in memory that both share, the session is not the child's.
void note_forked();

// The calling thread is about to filter its system calls, or those of all threads: the agent makes the system calls
// that it needs now, and none from now on. If the call fails, withdraw_filter() undoes that.
FilterNotice expect_filter(FilterReach reach);

// An object is being unloaded: invalidates what is known of the addresses of objects that are gone. May be called in
// any state.
void note_unloading();

}  // namespace heapprof::agent
