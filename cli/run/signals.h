// cli/run/signals.h: signals between `heapprof run` and the program.
//
// Guarantees
//  - A signal that is sent to us reaches the program once, with the value of a sigqueue(3). If the program has received
//    it itself (Ctrl-C at its terminal, a kill of its process group or of its control group), it is not forwarded.
//  - If we are two processes, an init and the run (init.h), a signal to either or to both reaches the program once.
//  - When the program stops (Ctrl-Z, a read of the terminal in the background), we stop by the same signal, so that the
//    shell sees it; when we are continued, so is the program.
//  - If a program stops because it uses the terminal from a process group of its own, while ours is in the foreground,
//    it is given the terminal instead (terminal_group.h).
//  - The hangup of a terminal whose session we lead reaches the program. If the program has a group in the background,
//    signals typed at the terminal reach that group.
//  - If a signal that ends programs is sent to us twice, and the program ignores or blocks it, we write what there is
//    and leave.
//  - A signal that the program, or a process below it, sends to us alone was meant for the program's parent: it goes to
//    our own parent instead, unless that is PID 1 or in another PID namespace. SIGCHLD does not. A signal that it sends
//    to its whole group is not passed on by us to any process of another group.
//  - SIGPIPE, SIGXFSZ and SIGXCPU that the kernel sends because of our own work do not end us.
// Not provided: a program that is sent other signals within the same 5 s (timers, ends of its children): it may get a
//           signal to its group twice, and our parent may miss a SIGTERM, SIGINT or SIGHUP from it. If one of these is
//           sent to us alone within 5 ms of another signal to the program, its only one in 5 s, it is taken for one to
//           the group, and missed; except with an init, which is in the group, too. If our parent is in our group, it
//           may get another signal to the group twice. If it is in another group, it may miss one that the program
//           sends it while it gets another signal, or ends within 3 ms, or that it makes itself ignore. A sender that
//           has ended, or lost its parent, before its signal is handled is not recognised as one below the program.
//           SIGKILL and SIGSTOP.
#pragma once

#include "cli/base/fd.h"
#include "cli/run/terminal_group.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

struct pollfd;

namespace heapprof::cli {

class SignalWatch {
 public:
  SignalWatch();  // blocks all forwardable signals; ignores those that our own writing may cause
  // Not 0: the errno with which its descriptors could not be opened. Then it may only be destroyed.
  int error() const { return error_; }
  ~SignalWatch();  // restores all: the next program of `check` inherits nothing from this one
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Called by the child that becomes the program, after vfork or fork: restores its signals, and from now on we learn
  // when it is sent one. Makes system calls only.
  void enter_program() const;

  // The mask that other children should inherit.
  const sigset_t& previous_mask() const { return previous_; }

  // Appends what becomes readable when handle() or a wait for the program has something to do.
  void add_waiting(std::vector<pollfd>* waiting) const;
  // A signal is being held back until it is known whether the program got it, too.
  bool is_holding() const { return !waiting_.empty(); }
  // Takes the signals that have arrived, and forwards them to `pid`, a child that has not been waited for. Not 0: the
  // signal that says: leave now. With pid 0 there is no program to forward to: the first signal that would end us is
  // returned.
  int handle(pid_t pid);
  // The same for an init, whose program is the run `pid`: waits for signals, and forwards those that are not about us;
  // the run knows which of them it got itself. Signals that the run passes up go to our own parent.
  void wait_for_run(pid_t pid) const;
  // Called by the run: its parent is heapprof's init.
  static void set_init();
  // To be called every few milliseconds while the program `pid` lives.
  void follow_terminal(pid_t pid) { terminal_.tick(pid); }
  // The program `pid` was stopped by `number`: stops this process, and returns when both are continued.
  void stop_with(pid_t pid, int number);
  // Drops signals that were sent too late for the program.
  void drop();

 private:
  struct Waiting {
    signalfd_siginfo info;
    uint64_t until_ns;
    bool is_from_below;       // sent by the program, or by a process that it started
    bool is_to_init = false;  // and, so far, to no other process of ours
  };
  // A signal that came directly, or through the init, and not yet the other way as well.
  struct Single {
    uint64_t ns;
    uint32_t number;
    uint32_t sender;
    bool is_through_init;
  };
  void note_programs_signals();
  bool has_come_already(const signalfd_siginfo& info, bool is_through_init);
  bool is_for_leaving(int number, pid_t pid);
  void forward_to_program(pid_t pid, const signalfd_siginfo& info);

  int error_ = 0;
  sigset_t previous_{};
  std::vector<std::pair<int, struct sigaction>> previous_actions_;
  TerminalGroup terminal_;
  UniqueFd fd_;
  UniqueFd marker_;                         // a signalfd that is always readable
  UniqueFd programs_;                       // an epoll instance: readable when the program was sent a signal
  std::deque<Waiting> waiting_;             // oldest first
  uint64_t programs_signal_ns_ = 0;         // when the program was last seen to be sent one
  uint64_t programs_signal_before_ns_ = 0;  // and the time before that
  mutable bool is_watching_ = false;        // whether the last wait ended when the program was sent one
  std::deque<Single> singles_;              // of the last second, oldest first
  uint64_t ignored_ns_ = 0;                 // when a signal came that the program ignores; 0: not yet
};

}  // namespace heapprof::cli
