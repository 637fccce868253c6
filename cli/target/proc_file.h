// cli/target/proc_file.h: a file of /proc/PID, whole.
#pragma once

#include <sys/types.h>

#include <string>

namespace heapprof::cli {

// Empty where the process is gone or hidden. Reading one of a process that is just ending may give a part.
std::string read_proc(pid_t pid, const char* name);

}  // namespace heapprof::cli
