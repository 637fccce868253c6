// cli/base/wait_for_others.h: waiting for a pipe's reader, in a process that blocks signals.
#pragma once

namespace heapprof::cli {

// Waits until `fd` accepts bytes, or until the timeout (-1: no limit; fd -1: only the timeout). During the wait SIGINT,
// SIGTERM, SIGHUP and SIGQUIT end the process, unless they are ignored. Otherwise a run that blocks these signals for
// its program could wait for ever.
void wait_for_others(int fd, int timeout_ms);

}  // namespace heapprof::cli
