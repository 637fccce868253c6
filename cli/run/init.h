// cli/run/init.h: `heapprof run` and `heapprof check` as the first process of a container.
//
// Orphans are given to PID 1, or to the nearest subreaper, which has to wait for them: otherwise they stay zombies.
#pragma once

#include "cli/run/inherited.h"

#include <sys/types.h>

#include <optional>

namespace heapprof::cli {

// Where this process is such a one, it forks: in the parent, which lets go of what it inherited, waits for all and
// forwards signals, this returns the exit code at the child's end, or ends by the child's signal, unless it is PID 1:
// there is nothing left to be done. In the child, and elsewhere, it returns nothing: the command is to be done.
// pre: nothing of the command has begun, as both processes have what there is (folders that go away, text to be
// written).
std::optional<int> serve_as_init(const Inherited& inherited);

// Whether a client means this whole run by `pid`.
bool is_pid_of_run(pid_t pid);

}  // namespace heapprof::cli
