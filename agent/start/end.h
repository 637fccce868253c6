// agent/start/end.h: with --leak-check the process waits at its orderly end, while the collector looks at its memory.
//
// Guarantees
//  - Without the flag, settle_end() does nothing, and a process does not wait at its end.
//  - With the flag, the agent registers one of the functions that exit() calls. It registers it first, so that libc
//    calls it last: after every destructor and atexit handler of the program and its libraries.
//  - The wait ends: with the answer, with the collector's death, or when the collector has made no progress for
//    --stall-timeout. No lock is taken, no signal is blocked, and a thread that may be under a seccomp filter does not
//    wait at all.
//  - A vfork child that calls exit() asks nothing: its memory is its parent's.
// Context:  settle_end: the constructor. The wait: the thread that called exit(), or returned from main.
#pragma once

namespace heapprof::agent {

void settle_end();

}  // namespace heapprof::agent
