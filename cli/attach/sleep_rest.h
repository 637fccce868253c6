// cli/attach/sleep_rest.h: restores the program's variable that a stop of nanosleep(&time, &time) overwrites.
//
// A stop interrupts a sleep, and the kernel writes the remaining time to the variable that the program named for the
// case of a signal. The kernel resumes the sleep from its own record, and the call returns as if nothing had happened.
// But a program that keeps its period in that variable would from then on sleep only for the remaining time.
//
// Guarantees: the value that is written back was there during this sleep, and was overwritten by heapprof's stop.
// Not provided: a sleep that was stopped before, by heapprof or another tracer, unless the instruction before the call
//               is `mov $NUMBER,%eax`, as it is in libc.
// Context:  the thread of heapprof that stops the sleeping thread.
#pragma once

#include "cli/attach/thread_choice.h"

#include <sys/types.h>
#include <sys/user.h>
#include <time.h>

#include <cstdint>

namespace heapprof::cli {

class SleepRest {
 public:
  // For a running thread, before it is stopped.
  SleepRest(pid_t pid, pid_t id);
  // For the same thread, stopped, with these registers.
  void put_back(const user_regs_struct& registers) const;

 private:
  pid_t pid_;
  pid_t id_;
  WaitingCall call_;
  uint64_t switches_ = 0;   // how often the thread had begun to wait before the stop
  uint64_t rest_avma_ = 0;  // 0: the call writes no remaining time
  timespec before_{};
};

}  // namespace heapprof::cli
