// cli/run/terminal_group.h: gives the terminal to a program that makes itself the leader of a process group.
//
// A shell makes the program the leader of its job's process group. Under heapprof, heapprof is that leader. A program
// that calls setpgid(0, 0), as timeout does, changes nothing when run without heapprof. Under heapprof it is from then
// on in the background of its own terminal, where reading stops it.
//
// Guarantees
//  - While our group is in the foreground and the job has no other process, such a program's group is given the
//    terminal within some 10 ms, and its members that were stopped by then are continued.
//  - If the job has other processes (`heapprof run -- timeout 9 PROGRAM | less`), its group keeps the terminal until
//    the program itself is stopped for using it.
// Not provided: programs that ignore SIGTTIN and read the terminal in those 10 ms, or in such a job.
// Context:  the process that waits for the program, or its child (init.h); SIGTTOU is blocked.
#pragma once

#include "cli/base/fd.h"

#include <sys/types.h>

#include <cstdint>

namespace heapprof::cli {

UniqueFd open_terminal();

// `program` has ended: if its group was in the foreground, ours is put there.
void take_terminal_back(pid_t program);

class TerminalGroup {
 public:
  // To be called every few milliseconds while the program lives. Costs a system call until the program has a group of
  // its own.
  void tick(pid_t program);
  // `program` was stopped for using the terminal. True: its group is now in the foreground, and it may be continued.
  bool give(pid_t program);

 private:
  bool is_settled_ = false;
  uint64_t given_ns_ = 0;  // when tick() gave it; 0: not yet
};

}  // namespace heapprof::cli
