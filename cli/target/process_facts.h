// cli/target/process_facts.h: reads from /proc what a process runs. The process may be gone at any moment.
#pragma once

#include "shared/wire.h"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// Each result is empty if the process is gone or hidden.
std::vector<std::string> process_command(pid_t pid);
std::string process_first_word(pid_t pid);  // first word of its command line
std::string process_executable(pid_t pid);
// Whether the process runs under a seccomp filter that we ourselves do not run under. kPossible: unknown, because /proc
// is hidden, or because the process has filters and the kernel (before Linux 5.10) does not show their number.
wire::FilterState process_filter(pid_t pid);
// The number of seccomp filters that this process runs under.
uint32_t own_filter_count();

}  // namespace heapprof::cli
