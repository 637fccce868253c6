// cli/attach/thread_status.h: the threads of a process, as /proc shows them.
//
// Context:  any thread.
// Trust:    each answer is that of a moment: a thread may have ended since, and its number be another one's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

std::vector<pid_t> thread_ids(pid_t pid);
// Whether all its threads have ended, or there is no such process.
bool has_no_thread(pid_t pid);
// Whether a thread with this line "State:" has ended.
bool is_dead(const std::string& state);
// A line of a thread's status, without its name; "": the kernel does not say.
std::string line_of_status(pid_t pid, pid_t id, const std::string& name);
// The number that it begins with, of that base; 0: the kernel does not say.
uint64_t number_in_status(pid_t pid, pid_t id, const std::string& name, int base = 10);
// The number that a thread has in the pid namespace that the process is in.
pid_t id_in_own_namespace(pid_t pid, pid_t id);

}  // namespace heapprof::cli
