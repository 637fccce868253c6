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

// Finds the real functions, once. A hook whose pointer to its real function is still empty calls this first.
void resolve_real_functions();

// Starts recording in this process if a collector wants it. Returns true if events can be recorded now.
bool start_session();

// As start_session, in a process that ran before the agent was loaded, or that has had a session before. Its invitation
// came just now.
// pre: nothing is recorded, and end_session() has ended the earlier session.
bool start_late_session();
// Ends recording, and gives back the memory that it took. False: a thread was in the middle of an event for a second,
// so the memory stays. pre: a session has begun.
bool end_session();
// Finds out what counts once, unless that is known (self_test.h). pre: resolve_real_functions()
void try_allocator_once();
// The object that serves malloc, if its functions can be called. pre: resolve_real_functions()
const link_map* malloc_object();

// Call in a process that a call of this thread has just forked. If the fork interrupted an event of the agent, this
// begins a session at once: the rest of that event must not reach the parent's rings. It also notes the process: if a
// vfork child, which shares its memory, allocates before this process does, the child must not begin the session.
void note_forked();

// Call when the calling thread is about to filter its system calls, or those of all threads: the agent now makes the
// system calls that it needs, and none from then on. If the thread's call fails, withdraw_filter() undoes that.
FilterNotice expect_filter(FilterReach reach);

// Call when an object is being unloaded: invalidates what is known of the addresses of objects that are gone. May be
// called in any state.
void note_unloading();

}  // namespace heapprof::agent
