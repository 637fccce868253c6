// cli/run/init.h: `heapprof run` as the first process of a container.
//
// Orphans are given to PID 1, or to the nearest subreaper, which has to wait for them: otherwise they stay zombies.
#pragma once

#include "cli/run/inherited.h"

#include <sys/types.h>

#include <optional>

namespace heapprof::cli {

// Where this process is such a one, it forks: in the parent, which waits for all and forwards signals, this returns the
// run's exit code at the run's end. In the child, and elsewhere, it returns nothing: the run is to be done.
// The parent lets go of what it inherited, unless it goes on.
std::optional<int> serve_as_init(const Inherited& inherited, bool goes_on);

// Whether a client means this whole run by `pid`.
bool is_pid_of_run(pid_t pid);

}  // namespace heapprof::cli
