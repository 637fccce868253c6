// cli/attach/traced_thread.h: one thread of another process, stopped as by a debugger, and made to execute system
// calls.
//
// The kernel sees the thread as the caller of these system calls, and that is all: no function of the program runs on
// it, its stack is neither read nor written, and no lock is taken. While a call of heapprof is in the thread's
// registers, its own registers are kept in unused memory, in a signal frame as the kernel would write it. The
// instruction after the call returns into rt_sigreturn. So if heapprof is killed in the middle, the kernel restores all
// registers.
//
// Guarantees
//  - The thread continues with the registers, the signal mask and the system call that it was stopped in; a call that
//    the kernel restarts continues with the rest of its timeout.
//  - The thread's call returns EINTR only if a signal of the program is pending when the thread continues; otherwise
//    the call restarts.
//  - If a process sends a signal in that time, the thread takes it once, as it was sent, when it continues.
// Not provided: the rest of the timeout of a call that the kernel does not restart by itself (epoll_wait, a socket's):
//               the whole timeout begins again.
//               If neither a library nor the program leaves 600 bytes of its last page unused, there is no frame: if
//               heapprof is killed in these 0.1 ms, the program continues with wrong registers.
//               If heapprof is killed between the stop and the next instruction, which corrects the registers, a call
//               that the kernel does not restart by itself ends with EINTR (1 of some 80 kills at random). If heapprof
//               is killed later, a sleep starts over.
// Context:  one thread of heapprof. No other thread waits for children with __WALL.
#pragma once

#include "cli/attach/process_maps.h"

#include <signal.h>
#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// Instructions of libc.
struct LibcCode {
  uint64_t system_call_avma = 0;  // syscall, and a return if it has not failed
  uint64_t end_thread_avma = 0;   // mov %rax,%rdi; mov $SYS_exit,%eax; syscall
  uint64_t restorer_avma = 0;     // mov $SYS_rt_sigreturn,%rax; syscall
};
inline constexpr uint64_t kEndThreadBytes = 10;

// Says why a thread cannot be traced if it has this tracer already: "process 4711 traces it". If the tracer is a thread
// of heapprof, an earlier stop has not ended yet.
std::string tracer_text(uint64_t tracer);
// Waits for a stop of a traced thread. nullopt: no stop until then. A status without WIFSTOPPED: it has ended.
std::optional<int> await_stop(pid_t id, uint64_t until_ns);
bool is_event_stop(int status);
bool is_call_stop(int status);
bool get_registers(pid_t id, user_regs_struct* registers);
bool set_registers(pid_t id, const user_regs_struct& registers);
// All signals except those of faults. If a fault's signal is blocked when the fault happens, the kernel removes its
// handler.
uint64_t all_but_faults();
// The signal for which a thread is stopped, if a process has sent it (kill, tgkill, sigqueue, a timer), whatever its
// number. nullopt: the signal is of the thread's own fault, or it is another kind of stop.
std::optional<siginfo_t> sent_signal(pid_t id, int status);
// Gives a new thread the flags, vector registers and protection keys of a program's first thread. Otherwise it would
// have those of its creator, possibly with alignment checks and unmasked exceptions.
bool set_initial_state(pid_t id, user_regs_struct* registers);
class TracedThread {
 public:
  TracedThread() = default;
  TracedThread(const TracedThread&) = delete;
  TracedThread& operator=(const TracedThread&) = delete;
  ~TracedThread() { let_go(); }

  // Stops the thread. Returns why that failed; empty: it is stopped.
  std::string stop(pid_t pid, pid_t id);
  void let_go();
  bool is_held() const { return id_ != 0; }

  pid_t id() const { return id_; }
  // The registers when it was stopped.
  const user_regs_struct& registers() const { return found_; }
  uint64_t signal_mask() const { return mask_; }

  // From now on keeps the thread's registers in `frame` while it executes calls. is_borrowed: when the thread
  // continues, restores the bytes that were in `frame`.
  void keep_registers(const LibcCode& code, RemoteSymbol frame, bool is_borrowed);
  // Makes the thread execute a system call. Returns the kernel's result: a negative value is an error.
  int64_t system_call(uint64_t number, const std::array<uint64_t, 6>& arguments);
  // The same for clone(): the new thread is traced and stopped before its first instruction. id: its id in heapprof's
  // namespace. Returns its id in the process's namespace.
  int64_t clone(const std::array<uint64_t, 6>& arguments, pid_t* id);

 private:
  bool is_in_restartable_sequence() const;
  int put_back_sent(int status);
  user_regs_struct registers_of(uint64_t number, const std::array<uint64_t, 6>& arguments) const;
  int64_t system_call_once(uint64_t number, const std::array<uint64_t, 6>& arguments, uint64_t until_ns);
  void write_frame();
  void clear_frame();

  pid_t pid_ = 0;
  pid_t id_ = 0;  // 0: no thread is stopped
  bool has_called_ = false;
  bool is_begun_anew_ = false;     // its call ended with EINTR only because of the stop
  unsigned long made_thread_ = 0;  // by the last clone()
  user_regs_struct found_{};
  user_regs_struct registers_{};  // with which it continues
  uint64_t mask_ = 0;             // signal mask
  LibcCode code_{};
  RemoteSymbol frame_{};
  bool is_borrowed_ = false;
  uint64_t return_avma_ = 0;            // where the frame's first word is; 0: there is no frame
  std::vector<unsigned char> covered_;  // what a borrowed frame has overwritten
  uint64_t covered_avma_ = 0;
};

}  // namespace heapprof::cli
