// cli/run/init.h: `heapprof run` and `heapprof check` as the first process of a container.
//
// Orphans are given to PID 1, or to the nearest subreaper, which has to wait for them: otherwise they stay zombies.
#pragma once

#include "cli/run/inherited.h"

#include <sys/types.h>

#include <optional>

namespace heapprof::cli {

// If this process is one of these, it forks. The parent closes what it inherited, waits for all and forwards signals.
// At the child's end it returns the exit code, or ends by the child's signal, unless it is PID 1; nothing is left to be
// done. In the child, and elsewhere, this returns nothing: the caller runs the command. pre: the command has not begun,
// as both processes would have its state (folders to be removed, text to be written).
std::optional<int> serve_as_init(const Inherited& inherited);

// Whether a client means this whole run by `pid`.
bool is_pid_of_run(pid_t pid);

}  // namespace heapprof::cli
