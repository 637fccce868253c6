// agent/process/copied_process.h: runs a function in a short-lived copy of the process.
//
// What is tried of the program's allocator changes its heap. In a copy it changes a heap that nobody will use.
//
// Guarantees
//  - The program's memory stays as it is, also what it shares with other processes: a copy that writes there dies. What
//    the function leaves reaches the caller as bytes, through a page that the two share.
//  - The copy ends before the call returns, by itself or killed after kPatienceMs, and then with the whole of it: it
//    may wait for a lock of a thread that it does not have. It writes no core, has no open file, sends its parent no
//    SIGCHLD, and `wait` of the program does not see it. System calls that reach out of it are refused there.
//  - None is made where it would be seen: in a program that heapprof attached to, one of whose threads may wait for
//    children of every kind, and where children begin a namespace of process numbers.
// Context:  start-up. pre: signals are blocked, no filter of system calls.
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
// Runs work(result) in a copy, where `result` holds what it holds here. It is unchanged unless the work was done.
CopyEnd run_in_copy(void (*work)(void*), void* result, size_t result_bytes);

}  // namespace heapprof::agent
