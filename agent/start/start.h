// agent/start/start.h: how the agent starts in a process and in a forked child, and what else must reach all of its
// parts.
//
// This is the one header that lower parts include from above: hooks and records begin a life of the agent, or say that
// code is being unloaded or that a filter is coming; start.cc tells each part that has to know.
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
// Ends recording, and gives back what that took. False: a thread stood in the middle of an event for a second, and that
// memory stays. pre: a life has begun.
bool end_life();
// Finds out what counts once, unless that is known (self_test.h). pre: resolve_real_functions()
void try_allocator_once();
// The object that serves malloc, if its functions can be called. pre: resolve_real_functions()
const link_map* malloc_object();

// The calling process was just forked, by a call of this thread. Where that interrupted an event of ours, a life begins
// at once: what is still to be written of that event must not reach the parent's rings. And where a child by vfork
// allocates before this process has, in memory that both have, the life is not its.
void note_forked();

// The calling thread is about to filter its system calls, or those of all threads: what of ours needs any is done now,
// and from now on nothing is. If the call fails, withdraw_filter() takes it back.
FilterNotice expect_filter(FilterReach reach);

// An object is being unloaded: what is known of the addresses of those that are gone ends. May be called in any state.
void note_unloading();

}  // namespace heapprof::agent
