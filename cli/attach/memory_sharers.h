// cli/attach/memory_sharers.h: other processes that share a process's memory, by vfork() or clone(CLONE_VM).
//
// Not provided: a process that the kernel does not let heapprof compare: another user's; one in a pid namespace that is
//               neither heapprof's nor inside it; any process if kcmp(2) is missing or forbidden (a seccomp filter,
//               Yama).
// Context:      one thread of heapprof.
#pragma once

#include <sys/types.h>

#include <optional>

namespace heapprof::cli {

// A process that shares the memory and is no child of `pid`; nullopt: none was seen.
// Cost: a system call for each process of the machine.
std::optional<pid_t> find_memory_sharer(pid_t pid);
// A child of `pid` that shares the memory and for which no thread waits in vfork(): it runs concurrently with the
// threads of `pid`. A child that is waited for runs instead of the waiting thread.
// Cost: a file of /proc for each thread, a system call for each child.
std::optional<pid_t> find_child_beside(pid_t pid);

}  // namespace heapprof::cli
