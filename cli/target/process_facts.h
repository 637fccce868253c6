// cli/target/process_facts.h: what /proc says about a process that has just spoken to us. It may be gone at any moment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// Each is empty (or 0, false) where the process is gone or hidden.
std::vector<std::string> process_command(pid_t pid);
uint64_t process_parent(pid_t pid);
std::string process_executable(pid_t pid);
// True if a filter restricts its system calls (seccomp), or if that cannot be known.
bool has_restricted_syscalls(pid_t pid);

}  // namespace heapprof::cli
