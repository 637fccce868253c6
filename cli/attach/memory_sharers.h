// cli/attach/memory_sharers.h: other processes that have the memory of one, by vfork() or clone(CLONE_VM).
//
// Not provided: a process that the kernel does not let heapprof compare: another user's, one in a pid namespace that is
//               not ours or inside ours, any where kcmp(2) is missing or forbidden (a seccomp filter, Yama).
// Context:      one thread of heapprof.
#pragma once

#include <sys/types.h>

#include <optional>

namespace heapprof::cli {

// A process that has the same memory and is no child of `pid`; nullopt: none was seen.
// Cost: a system call for each process of the machine.
std::optional<pid_t> find_memory_sharer(pid_t pid);
// A child of `pid` that has the same memory and is not waited for in vfork(): it runs beside the threads of `pid`. One
// that is waited for stands in for the thread that waits.
// Cost: a file of /proc for each thread, a system call for each child.
std::optional<pid_t> find_child_beside(pid_t pid);

}  // namespace heapprof::cli
