// agent/libc/own_file_table.h: opens files where no thread of the program can see them.
//
// A descriptor of the agent in the program's table is a hazard: another thread calls closefrom(3), opens a file, gets
// the same number, and the agent closes its file. So files are opened where no other thread can use the table.
//
// Guarantees
//  - While the action runs, no other thread can use the file descriptor table that it works on. Either this process has
//    one thread, all of whose signals are blocked, or the action runs on another task with a table of its own, while
//    this thread waits. (tests/integration/limits/files_of_others.sh)
//  - It closes no file of the program.
//  - What the action maps, or writes to memory, remains afterwards.
// Not provided: a task where the kernel refuses to make one (RLIMIT_NPROC, a control group, a pid namespace for
//               children only), or in Valgrind; protection if processes share the file table and nothing else (a raw
//               clone with CLONE_FILES alone).
// Context:  anywhere, vfork children and signal handlers included, except under a seccomp filter.
// Cost:     5 µs on the program's table, else 110 µs on a virtual machine of two cores. Stack: 300 bytes, and what the
//           action needs.
#pragma once

namespace heapprof::agent {

// What to do with the files. Returns false if no descriptor was available; it must then have done nothing. It must not
// fault, because all signals are blocked.
using FileAction = bool (*)(void* argument);

enum class FileTable {
  kUnseen,  // the program's table if no other thread can use it, else a table of the action's own
  // always a table of its own: the action opens a file that the program has, and closing it in the program's table
  // would release the program's locks
  kOwn
};

// Calls action(argument). If it returns false, calls it again on a table of its own that has room. kept_fd: a
// descriptor of the program that the action works on; -1: no such descriptor. Returns false if no such table can be
// made.
bool run_unseen(FileTable table, int kept_fd, FileAction action, void* argument);

// The same for a lambda.
template <typename Action>
bool run_unseen(FileTable table, int kept_fd, Action action) {
  return run_unseen(
      table, kept_fd, [](void* argument) { return (*static_cast<Action*>(argument))(); }, &action);
}

}  // namespace heapprof::agent
