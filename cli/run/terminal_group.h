// cli/run/terminal_group.h: gives the terminal to a program that makes itself the leader of a process group.
//
// A shell makes the program the leader of its job's process group. Under heapprof, heapprof is that leader. If a
// program calls setpgid(0, 0), as timeout does, that changes nothing without heapprof. But under heapprof the call puts
// the program in a background group, where reading from the terminal stops it.
//
// Guarantees
//  - If our group is in the foreground and the job has no other process, such a program's group gets the terminal
//    within about 10 ms. Its members that were stopped in that time are continued.
//  - If the job has other processes (`heapprof run -- timeout 9 PROGRAM | less`), the job's group keeps the terminal
//    until the program itself is stopped for using it.
// Not provided: programs that ignore SIGTTIN and read the terminal in those 10 ms, or in a job with other processes.
// Context:  the process that waits for the program (the run, or its init: init.h); SIGTTOU is blocked.
#pragma once

#include "cli/base/fd.h"

#include <sys/types.h>

#include <cstdint>

namespace heapprof::cli {

UniqueFd open_terminal();

// Called when `program` has ended: if its group was in the foreground, puts ours there.
void take_terminal_back(pid_t program);

class TerminalGroup {
 public:
  // To be called every few milliseconds while the program lives. Costs one system call while the program has no group
  // of its own.
  void tick(pid_t program);
  // Called when `program` was stopped for using the terminal. True: its group is now in the foreground, so it may be
  // continued.
  bool give(pid_t program);

 private:
  bool is_settled_ = false;
  uint64_t given_ns_ = 0;  // when tick() gave it the terminal; 0: not yet
};

}  // namespace heapprof::cli
