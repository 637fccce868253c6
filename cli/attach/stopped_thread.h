// cli/attach/stopped_thread.h: one thread of another process, stopped as a debugger stops it, and made to call
// functions.
//
// The thread calls as if a signal handler ran: a frame as the kernel writes it for a signal stands on its stack, and
// the function returns to what ends handlers (rt_sigreturn). So the kernel itself puts everything back, registers of
// all kinds and the signal mask; and it does even if we are killed meanwhile.
//
// Guarantees
//  - No signal is sent to the process, and none is lost: they are held back during the calls.
//  - A system call in which the thread was stopped begins anew, with its whole timeout.
//  - Whenever we end, the process goes on: where it was, behind the function that it has begun.
// Context:  all of it by one thread of ours, which nobody else waits for with __WALL.
#pragma once

#include "cli/attach/process_maps.h"

#include <sys/types.h>
#include <sys/user.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

class StoppedThread {
 public:
  StoppedThread() = default;
  StoppedThread(const StoppedThread&) = delete;
  StoppedThread& operator=(const StoppedThread&) = delete;
  ~StoppedThread() { let_go(); }

  // Stops it. Returns why not; empty: it has.
  std::string stop(pid_t pid, pid_t id);
  // Lets it go on; a call in which it was stopped begins anew.
  void let_go();

  pid_t id() const { return id_; }
  const user_regs_struct& registers() const { return registers_; }
  // The number of the system call in which it was stopped.
  std::optional<uint64_t> system_call() const;

  // Room for what calls are given and give back, on its stack; keeps `text` there. Returns why not; empty: it is there.
  // restorer_avma: the instructions that end a signal handler, in libc.
  std::string prepare(uint64_t restorer_avma, size_t text_bytes);
  // pre of what follows: prepared.
  uint64_t text_avma() const { return text_avma_; }
  bool write_text(size_t offset, const std::string& text);
  bool read_text(size_t offset, void* to, size_t bytes) const;
  // Calls it and waits, `most` at most. Returns what went wrong; empty: it has returned.
  std::string call(uint64_t function_avma, const std::vector<uint64_t>& arguments, std::chrono::seconds most);

 private:
  bool set_registers(const user_regs_struct& registers);
  bool is_in_restartable_sequence() const;
  std::string await_return(std::chrono::seconds most);

  pid_t pid_ = 0;
  pid_t id_ = 0;  // 0: none is stopped
  bool is_prepared_ = false;
  bool has_called_ = false;  // it stands before rt_sigreturn, or was lost on its way there
  user_regs_struct registers_{};
  uint64_t mask_ = 0;                   // of signals
  std::vector<unsigned char> vectors_;  // registers, as ptrace gives and takes them
  uint64_t frame_avma_ = 0;
  uint64_t text_avma_ = 0;
  size_t text_bytes_ = 0;
};

}  // namespace heapprof::cli
