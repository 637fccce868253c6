// cli/base/wait_for_others.h: waiting for a pipe's reader, in a process that blocks signals.
#pragma once

namespace heapprof::cli {

// Waits until `fd` takes bytes, or for so long (-1: no limit; fd -1: the time alone). SIGINT, SIGTERM, SIGHUP and
// SIGQUIT end the process meanwhile, unless they are ignored: what a run blocks for its program's sake must not make it
// wait for ever.
void wait_for_others(int fd, int timeout_ms);

}  // namespace heapprof::cli
