// cli/target/helper_process.h: starting heapprof-nvml, the program that asks NVIDIA's libraries on our behalf.
//
// Guarantees
//  - It starts with no signal blocked or ignored, whatever this process blocks or ignores, and in a process group of
//    its own: Ctrl-C at a terminal does not reach it.
#pragma once

#include "cli/base/fd.h"

#include <sys/types.h>

#include <string>
#include <vector>

namespace heapprof::cli {

// Its input and output are `end`, its errors are dropped. 0: it runs as *pid; else the errno.
int start_helper(const std::string& helper, const std::vector<std::string>& arguments, const UniqueFd& end, pid_t* pid);

// Ends it, and takes its status if that is there already. A helper that hangs in a driver may not die at once: it is
// not waited for.
void end_helper(pid_t pid);

}  // namespace heapprof::cli
