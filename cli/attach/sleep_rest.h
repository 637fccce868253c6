// cli/attach/sleep_rest.h: what nanosleep(&time, &time) leaves in the program's variable.
//
// A stop interrupts a sleep, and the kernel writes what is left of it to where the program wants that after a signal.
// It goes on with the sleep by its own record, and the call returns as if nothing had been; but a program that keeps
// its period in that variable would sleep for the rest alone from then on.
//
// Guarantees: what is written back stood there while this sleep was on, and was written over by our stop.
// Not provided: a sleep that was stopped before, by somebody else or us, where the code is not libc's.
// Context:  the thread of heapprof that stops it.
#pragma once

#include "cli/attach/thread_choice.h"

#include <sys/types.h>
#include <sys/user.h>
#include <time.h>

#include <cstdint>

namespace heapprof::cli {

class SleepRest {
 public:
  // Of a thread that runs, before it is stopped.
  SleepRest(pid_t pid, pid_t id);
  // Of the same thread, stopped, with these registers.
  void put_back(const user_regs_struct& registers) const;

 private:
  pid_t pid_;
  pid_t id_;
  WaitingCall call_;
  uint64_t switches_ = 0;   // how often it had begun to wait
  uint64_t rest_avma_ = 0;  // 0: the call leaves nothing
  timespec before_{};
};

}  // namespace heapprof::cli
