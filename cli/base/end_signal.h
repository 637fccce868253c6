// cli/base/end_signal.h: ends this process by the signal that ended the program.
//
// A shell learns of its user's Ctrl-C from a child that died of SIGINT; after an exit status it goes on with its loop.
// The same holds for SIGQUIT. Both ways to end show as status 128 + N in a shell.
#pragma once

namespace heapprof::cli {

// Ends this process by that signal, without a core file. Returns if that is impossible: this is the first process of a
// container, which no signal ends. pre: no work is left.
void end_by_signal(int number);

}  // namespace heapprof::cli
