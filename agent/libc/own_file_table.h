// agent/libc/own_file_table.h: opens files where no thread of the program can see them.
//
// A descriptor of the agent in the program's table is a hazard: another thread calls closefrom(3), opens a file, gets
// the same number, and the agent closes its file. So files are opened where no other thread can use the table.
//
// Guarantees
//  - While the action runs, the file descriptor table that it works on is its own: either this process has one thread,
//    all of whose signals are blocked, or the action runs on another task with a table of its own, while this thread
//    waits. (tests/integration/limits/files_of_others.sh)
//  - No file of the program's is closed.
//  - What the action maps, or writes to memory, stays.
// Not provided: a task where the kernel refuses one (RLIMIT_NPROC, a control group, a pid namespace for children only),
//               or in Valgrind; a file table that processes share which share nothing else (a raw clone with
//               CLONE_FILES alone).
// Context:  anywhere, vfork children and signal handlers included, but under no seccomp filter.
// Cost:     on the program's table 5 µs, else 110 µs on a virtual machine of two cores. Stack: 300 bytes and the
//           action's.
#pragma once

namespace heapprof::agent {

// What is to be done with files. False: no descriptor was available, and nothing has been done yet. May not fault: all
// signals are blocked.
using FileAction = bool (*)(void* argument);

enum class FileTable {
  kUnseen,  // the program's while no other thread can use it, else one of its own
  kOwn  // one of its own: a file of the program's is opened, and closing it in the program's would release its locks
};

// Calls action(argument); if it answers false, again on a table of its own with room in it. kept_fd: a descriptor of
// the program's that the action works on; -1: none. Returns false if there is no such table.
bool run_unseen(FileTable table, int kept_fd, FileAction action, void* argument);

// The same for a lambda.
template <typename Action>
bool run_unseen(FileTable table, int kept_fd, Action action) {
  return run_unseen(
      table, kept_fd, [](void* argument) { return (*static_cast<Action*>(argument))(); }, &action);
}

}  // namespace heapprof::agent
