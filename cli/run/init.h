// cli/run/init.h: `heapprof run` and `heapprof check` as the first process of a container.
//
// The kernel gives orphaned processes to PID 1, or to the nearest subreaper. That process has to wait for them,
// otherwise they stay zombies.
#pragma once

#include "cli/run/inherited.h"

#include <sys/types.h>

#include <optional>

namespace heapprof::cli {

// If this process is PID 1 or a subreaper, serve_as_init() forks, and the child does the run. The parent closes the
// descriptors that it inherited, waits for all children, and forwards signals. When the child has ended,
// serve_as_init() returns the child's exit code, and the caller only has to exit with it. If a signal ended the child,
// the parent ends by the same signal, unless it is PID 1. In the child, and in a process that is no reaper,
// serve_as_init() returns nullopt, and the caller runs the command. pre: the command has not begun, because after the
// fork both processes would have its state (folders to be removed, text to be written).
std::optional<int> serve_as_init(const Inherited& inherited);

// Whether `pid`, named by a client, means this whole run: the pid of this process or of its init.
bool is_pid_of_run(pid_t pid);

}  // namespace heapprof::cli
