// cli/collect/leaks/stopped_threads.h: stops the other threads of a process while its memory is searched.
//
// Running threads change the memory that is read, and keep pointers in registers that no other thread can see. So they
// are stopped as by a debugger (PTRACE_SEIZE, PTRACE_INTERRUPT), without a signal that the program could notice. They
// are not resumed before the process ends, because an interrupted system call may return EINTR, and a program that is
// about to end would then report an error. If the process does not end, they are resumed after a while. System calls
// that ended only because of the stop then start anew, with their whole timeout (on aarch64, where a tracer cannot do
// that, some of them return EINTR; cli/arch/aarch64/threads.h).
//
// Guarantees
//  - A stopped thread stays stopped until the thread that called stop() ends, however it ends: the kernel then resumes
//    the threads that it traced.
//  - The exit status of the process is left to its parent, and no signal to a thread is lost: one that comes during the
//    stop is delivered when the thread is resumed.
// Context:  one thread calls all of it (except bury_dead()), and lives no longer than needed. While it lives, no thread
//           of the collector may wait for this process, or for any child with WUNTRACED.
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
    uint64_t stack_avma;          // less the red zone below it
    uint64_t thread_avma;         // its thread pointer
    std::vector<uint64_t> words;  // of its registers, vector registers included
  };

  // Stops all threads except `exiting_id` (as the process itself sees it), also those created in the meantime. Returns
  // why it could not; empty: it did. has_to_stop: called now and then.
  std::string stop(pid_t pid, uint32_t exiting_id, const std::function<bool()>& has_to_stop);
  const std::vector<Thread>& threads() const { return threads_; }
  // The thread that was not stopped, by its id in the collector's namespace. The process's first thread may have ended,
  // and memory can only be read through a live thread.
  pid_t exiting() const { return exiting_; }
  // Waits until the process has ended; most_ns at most.
  void await_end(uint64_t most_ns) const;
  // Call it before the threads are resumed. If the stop made the kernel end a thread's system call, and the kernel does
  // not restart this call by itself, the thread will make it again (not on aarch64).
  void renew_calls() const;

  // A traced thread that dies stays a zombie until its tracer waits for it. A thread that calls exec waits until all
  // others are gone, and PTRACE_SEIZE of any of them waits for exec: so a thread other than the one in stop() has to
  // reap them. Any thread of the collector calls it now and then.
  static void bury_dead(pid_t pid);

 private:
  pid_t pid_ = 0;
  pid_t exiting_ = 0;
  std::vector<Thread> threads_;
};

}  // namespace heapprof::cli
