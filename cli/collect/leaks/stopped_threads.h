// cli/collect/leaks/stopped_threads.h: holds the other threads of a process still while its memory is looked at.
//
// Threads that run change what is read, and keep pointers in registers that nobody else can see. So they are stopped as
// a debugger stops them (PTRACE_SEIZE, PTRACE_INTERRUPT), without a signal that the program could notice. They are not
// let go before the process ends: a system call that was interrupted may return EINTR, and a program that is about to
// end would have an error to report. If it does not end, they are let go after a while, and calls that only the stop
// ended begin anew, with their whole timeout.
//
// Guarantees
//  - A thread that is stopped stays so until release(), or until the thread that called stop() ends, however it ends:
//    the kernel lets go of what a tracer held.
//  - The status of a process that ended is never taken from the one who waits for it, and no signal to a thread is
//    lost: what comes meanwhile is delivered when the thread is let go.
// Context:  one thread calls all of it (but bury_dead()), and lives no longer than needed; nobody waits for a child
//           with WUNTRACED, or at all for the process in question, meanwhile.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heapprof::cli {

class StoppedThreads {
 public:
  struct Thread {
    pid_t id;
    uint64_t stack_avma;          // less what lies below it and counts, by the ABI
    uint64_t thread_avma;         // its thread pointer
    std::vector<uint64_t> words;  // of its registers, vector registers included
  };

  // Stops all threads but `exiting_id` (as the process itself sees it), also those that are made meanwhile. Returns why
  // not; empty: it has. has_to_stop: asked now and then.
  std::string stop(pid_t pid, uint32_t exiting_id, const std::function<bool()>& has_to_stop);
  const std::vector<Thread>& threads() const { return threads_; }
  // The one that was left alone, by the id that it has here. The process's first thread may have ended, and its memory
  // is seen by a thread that lives.
  pid_t exiting() const { return exiting_; }
  // Waits until the process has ended; most_ns at most.
  void await_end(uint64_t most_ns) const;
  // Before they are let go: those that were stopped in a system call which the kernel ended for that, and does not
  // begin again by itself, will call it once more.
  void renew_calls() const;

  // Who is traced and dies is there until its tracer has looked. A thread that calls exec waits for all others to be
  // gone, and PTRACE_SEIZE of any of them waits for exec: so another thread than the one in stop() has to look. Called
  // now and then, by any thread of ours.
  static void bury_dead(pid_t pid);

 private:
  pid_t pid_ = 0;
  pid_t exiting_ = 0;
  std::vector<Thread> threads_;
};

}  // namespace heapprof::cli
