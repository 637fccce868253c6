// agent/start/end.h: with --leak-check the process waits at its orderly end, while the collector looks at its memory.
//
// Guarantees
//  - Without the flag nothing is done, now or at the end.
//  - With it one of libc's places for what exit() calls is taken, the first, so that it is called last: after every
//    destructor and atexit handler that the program and its libraries have.
//  - The wait ends: with the answer, with the collector's death, or when the collector has made no progress for
//    --stall-timeout. No lock is taken, no signal is blocked, and a thread that may be under a seccomp filter does not
//    wait at all.
//  - A vfork child that calls exit() asks nothing: what it would ask about is its parent.
// Context:  settle_end: the constructor. The wait: the thread that called exit(), or returned from main.
#pragma once

namespace heapprof::agent {

void settle_end();

}  // namespace heapprof::agent
