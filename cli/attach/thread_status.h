// cli/attach/thread_status.h: the threads of a process, as /proc shows them.
//
// Context:  any thread.
// Trust:    each answer is a snapshot: a thread may have ended since, and its id may be another thread's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

std::vector<pid_t> thread_ids(pid_t pid);
// True if all its threads have ended, or there is no such process.
bool has_no_thread(pid_t pid);
// True if a thread with this "State:" line has ended.
bool is_dead(const std::string& state);
// A line of a thread's status, without its name; "": no such line.
std::string line_of_status(pid_t pid, pid_t id, const std::string& name);
// The number that the line begins with, in that base; 0: no such line.
uint64_t number_in_status(pid_t pid, pid_t id, const std::string& name, int base = 10);
// A thread's id in the process's pid namespace.
pid_t id_in_own_namespace(pid_t pid, pid_t id);

}  // namespace heapprof::cli
