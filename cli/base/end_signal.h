// cli/base/end_signal.h: an end by the signal that ended the program.
//
// A shell learns of its user's Ctrl-C by a child that has died of SIGINT: told of a status, it goes on with its loop.
// The same holds for SIGQUIT. To a shell both ends have the status 128 + N.
#pragma once

namespace heapprof::cli {

// Ends this process by that signal, and writes no core file. Comes back where it cannot: this is the first process of a
// container, which no signal ends. pre: nothing is left to be done.
void end_by_signal(int number);

}  // namespace heapprof::cli
