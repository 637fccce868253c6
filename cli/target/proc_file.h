// cli/target/proc_file.h: reads a whole file in /proc/PID.
#pragma once

#include <sys/types.h>

#include <string>

namespace heapprof::cli {

// Returns the text; empty if the process is gone or hidden. If the process is just ending, the text may be incomplete.
std::string read_proc(pid_t pid, const char* name);

}  // namespace heapprof::cli
