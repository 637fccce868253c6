// cli/target/process_facts.h: what /proc says about a process that has just connected. It may be gone at any moment.
#pragma once

#include "shared/wire.h"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// Each is empty (or 0, false) if the process is gone or hidden.
std::vector<std::string> process_command(pid_t pid);
std::string process_first_word(pid_t pid);  // of its command
std::string process_executable(pid_t pid);
// Whether it runs under a seccomp filter that we ourselves do not run under. kPossible if /proc is hidden, and before
// Linux 5.10 in a container that filters everything.
wire::FilterState process_filter(pid_t pid);
// The number of seccomp filters that this process runs under.
uint32_t own_filter_count();

}  // namespace heapprof::cli
