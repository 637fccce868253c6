// cli/base/end_signal.h: ends this process by the signal that ended the program.
//
// If a child dies of SIGINT, a shell knows that the user pressed Ctrl-C, and ends its loop. If the child exits with a
// status instead, the shell goes on with the loop. The same holds for SIGQUIT. Both ways to end show as status 128 + N
// in a shell.
#pragma once

namespace heapprof::cli {

// Ends this process by that signal, without a core file. Returns only if this is the first process of a container,
// which no signal ends. pre: no work is left.
void end_by_signal(int number);

}  // namespace heapprof::cli
