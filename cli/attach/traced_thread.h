// cli/attach/traced_thread.h: one thread of another process, stopped as a debugger stops it, and made to do system
// calls.
//
// It lends the kernel's view of itself and nothing else: no function of the program runs on it, its stack is neither
// read nor written, and no lock is asked for. While a call of ours is in its registers, they stand in a signal frame as
// the kernel writes one, in unused memory, and the instruction behind the call returns into
// rt_sigreturn: if heapprof is killed in the middle, the kernel puts everything back.
//
// Guarantees
//  - The thread goes on with the registers, the signal mask and the system call that it was stopped in; a call that the
//    kernel begins anew goes on with what is left of its timeout.
//  - EINTR is given back only where a signal of the program's own is waiting as the thread goes on: without one the
//    call begins anew.
//  - A signal that a process sends in that time is taken by the thread once, as it was sent, when it goes on.
// Not provided: of a call with a timeout that the kernel does not begin anew by itself (epoll_wait, a socket's), what
//               was left of it: the whole timeout begins again.
//               Where no library, nor the program, leaves 600 bytes of its last page unused, registers are in no frame:
//               if heapprof is killed in these 0.1 ms, the program goes on with wrong ones.
//               If heapprof is killed between the stop and the next instruction that puts the registers right, such a
//               call ends with EINTR (1 of some 80 kills at random); if it is killed later, a sleep begins anew.
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

// Instructions of libc's.
struct LibcCode {
  uint64_t system_call_avma = 0;  // syscall, and a return where it has not failed
  uint64_t end_thread_avma = 0;   // mov %rax,%rdi; mov $SYS_exit,%eax; syscall
  uint64_t restorer_avma = 0;     // mov $SYS_rt_sigreturn,%rax; syscall
};
inline constexpr uint64_t kEndThreadBytes = 10;

// Waits for a stop of a traced thread. nullopt: none until then. A status without WIFSTOPPED: it has ended.
std::optional<int> await_stop(pid_t id, uint64_t until_ns);
bool is_event_stop(int status);
bool is_call_stop(int status);
bool get_registers(pid_t id, user_regs_struct* registers);
bool set_registers(pid_t id, const user_regs_struct& registers);
// All signals but those of faults: blocked, the kernel would take their handlers away.
uint64_t all_but_faults();
// What a process has sent (kill, tgkill, sigqueue, a timer) to a thread that stands in a stop for a signal, with the
// number of a fault or another. nullopt: it is the thread's own fault, or another stop.
std::optional<siginfo_t> sent_signal(pid_t id, int status);
// Gives a new thread the flags, the vector registers and the protection keys that a program's first thread has: it has
// those of the thread that made it, with alignment checks and unmasked exceptions.
bool set_initial_state(pid_t id, user_regs_struct* registers);
class TracedThread {
 public:
  TracedThread() = default;
  TracedThread(const TracedThread&) = delete;
  TracedThread& operator=(const TracedThread&) = delete;
  ~TracedThread() { let_go(); }

  // Stops it. Returns why not; empty: it has.
  std::string stop(pid_t pid, pid_t id);
  void let_go();
  bool is_held() const { return id_ != 0; }

  pid_t id() const { return id_; }
  // As it was stopped.
  const user_regs_struct& registers() const { return found_; }
  uint64_t signal_mask() const { return mask_; }

  // From now on its registers are kept in `frame` while it makes calls. is_borrowed: what is there is put back when the
  // thread goes on.
  void keep_registers(const LibcCode& code, RemoteSymbol frame, bool is_borrowed);
  // Has it do a system call. Returns what the kernel did: a negative error.
  int64_t system_call(uint64_t number, const std::array<uint64_t, 6>& arguments);
  // The same for clone(): the new thread is traced and stands before its first instruction. id: its number for us; what
  // is returned is its number in the namespace of the process.
  int64_t clone(const std::array<uint64_t, 6>& arguments, pid_t* id);

 private:
  bool is_in_restartable_sequence() const;
  int put_back_sent(int status);
  user_regs_struct registers_of(uint64_t number, const std::array<uint64_t, 6>& arguments) const;
  int64_t system_call_once(uint64_t number, const std::array<uint64_t, 6>& arguments, uint64_t until_ns);
  void write_frame();
  void clear_frame();

  pid_t pid_ = 0;
  pid_t id_ = 0;  // 0: none is stopped
  bool has_called_ = false;
  bool is_begun_anew_ = false;     // its call ended with EINTR by the stop alone
  unsigned long made_thread_ = 0;  // by the last clone()
  user_regs_struct found_{};
  user_regs_struct registers_{};  // with which it goes on
  uint64_t mask_ = 0;             // of signals
  LibcCode code_{};
  RemoteSymbol frame_{};
  bool is_borrowed_ = false;
  uint64_t return_avma_ = 0;            // where the frame's first word is; 0: there is no frame
  std::vector<unsigned char> covered_;  // what was in the place of a borrowed frame
  uint64_t covered_avma_ = 0;
};

}  // namespace heapprof::cli
