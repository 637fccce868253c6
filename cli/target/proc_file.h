// cli/target/proc_file.h: a file of /proc/PID, whole.
#pragma once

#include <sys/types.h>

#include <string>

namespace heapprof::cli {

// Empty if the process is gone or hidden. If the process is just ending, the text may be incomplete.
std::string read_proc(pid_t pid, const char* name);

}  // namespace heapprof::cli
