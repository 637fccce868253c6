// cli/target/helper_process.h: starting heapprof-nvml, the program that asks NVIDIA's libraries on our behalf.
//
// Guarantees
//  - The helper starts with no signal blocked or ignored, even if this process blocks or ignores some. It is in its own
//    process group, so that Ctrl-C at a terminal does not reach it.
#pragma once

#include "cli/base/fd.h"

#include <sys/types.h>

#include <string>
#include <vector>

namespace heapprof::cli {

// Starts the helper with `end` as its standard input and output; its standard error is dropped. Returns 0 if it runs,
// as *pid, else the errno.
int start_helper(const std::string& helper, const std::vector<std::string>& arguments, const UniqueFd& end, pid_t* pid);

// Kills the helper, and reaps it if it has already ended. Does not wait, because a helper that hangs in a driver may
// not die at once.
void end_helper(pid_t pid);

}  // namespace heapprof::cli
