// agent/process/copied_process.h: runs a function in a short-lived copy of the process.
//
// Trying the program's allocator changes its heap. In a copy, only the copy's heap changes, which nothing uses later.
//
// Guarantees
//  - The program's memory is unchanged, even what it shares with other processes: a copy that writes there dies. The
//    function's result reaches the caller as bytes, through a page that the two share.
//  - The copy ends before the call returns: by itself, or killed as a whole after kPatienceMs, because it may wait for
//    a lock whose holder is not in the copy. It writes no core, has no open file, sends its parent no SIGCHLD, and
//    `wait` of the program does not see it. System calls that reach outside it are refused there.
//  - No copy is made if the program would see it. This is so in a program that heapprof attached to, because one of its
//    threads may wait for children of every kind; and if children begin a PID namespace.
// Context:  start-up. pre: signals are blocked, no seccomp filter.
// Cost:     0.2 ms for a small program.
#pragma once

#include <stddef.h>

namespace heapprof::agent {

inline constexpr size_t kMostCopiedBytes = 4000;

enum class CopyEnd {
  kDone,     // *result is what the work left
  kNotMade,  // the kernel gave no copy, or the program would see that there was one
  kDied,     // the work killed it, or did not come to an end; or /proc does not say what memory is shared
};
// Runs work(result) in a copy, where `result` has the same content. `result` changes here only if the work was done.
CopyEnd run_in_copy(void (*work)(void*), void* result, size_t result_bytes);

}  // namespace heapprof::agent
