// cli/run/signals.h: signals between `heapprof run` and the program.
//
// Guarantees
//  - A signal that is sent to us reaches the program once, with the value of a sigqueue(3). One that the program has
//    got by itself (Ctrl-C at its terminal, a kill of its process group or of its control group) is not forwarded.
//  - Where we are two processes, an init and the run (init.h), a signal to either or to both reaches the program once.
//  - When the program stops (Ctrl-Z, a read of the terminal in the background), we stop by the same signal, so that the
//    shell sees it; when we are continued, so is the program.
//  - A program that stops as it uses the terminal from a process group of its own, while ours is in the foreground, is
//    given the terminal instead (terminal_group.h).
//  - The hangup of a terminal whose session we lead reaches the program, and what is typed where the program has a
//    group in the background reaches that group.
//  - A signal that ends programs and that the program ignores or blocks, sent twice to us, means: write what there is
//    and leave.
//  - A signal that the program, or a process below it, sends to us alone was meant for the program's parent: it goes to
//    our own parent instead, unless that is PID 1 or in another PID namespace. SIGCHLD does not. One that it sends to
//    its whole group goes to no process of another group because of us.
//  - SIGPIPE, SIGXFSZ and SIGXCPU that the kernel sends for our own work do not end us.
// Not provided: a program that is sent other signals within the same 5 s (timers, ends of its children): it may get one
//           that was sent to its group twice, and our parent may miss a SIGTERM, SIGINT or SIGHUP from it. One of these
//           that is sent to us alone within 5 ms of another signal of the program's, its only one in 5 s, is taken for
//           one to the group, and missed; not where there is an init, which the group has, too. Our parent, if it is of
//           our group, may get another one that was sent to the group twice; if it is of another, it may miss one that
//           the program sends it as it gets another signal, or ends within 3 ms, or makes itself ignore.
//           A sender that has ended, or lost its parent, when its signal is looked at, is not known to be below the
//           program. SIGKILL and SIGSTOP.
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
  SignalWatch();  // blocks all signals that can be forwarded; ignores those that our own writing may cause
  // Not 0: the errno with which its descriptors could not be opened. Then it may only be destroyed.
  int error() const { return error_; }
  ~SignalWatch();  // all as it was: the next program of `check` inherits nothing of this one's
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Called by the child that becomes the program, after vfork or fork: its signals are as they were before us, and from
  // now on we learn when it is sent one. Makes system calls only.
  void enter_program() const;

  // What other children are to inherit.
  const sigset_t& previous_mask() const { return previous_; }

  // Appends what becomes readable when handle() or a wait for the program has something to do.
  void add_waiting(std::vector<pollfd>* waiting) const;
  // A signal is held back until it is known whether the program got it, too.
  bool is_holding() const { return !waiting_.empty(); }
  // Takes what has arrived; forwards to `pid`, a child that has not been waited for. Not 0: leave now, this signal says
  // so. With pid 0 there is no program left to forward to: the first one that would end us says so.
  int handle(pid_t pid);
  // The same for an init, whose program is the run `pid`: waits until some come, and forwards those that are not about
  // us, as the run knows which of them it got itself; what the run passes up goes to our own parent.
  void wait_for_run(pid_t pid) const;
  // Called by the run: its parent is an init of ours.
  static void set_init();
  // To be called every few milliseconds while the program `pid` lives.
  void follow_terminal(pid_t pid) { terminal_.tick(pid); }
  // The program `pid` was stopped by `number`: stops this process, and comes back when both are continued.
  void stop_with(pid_t pid, int number);
  // What was sent too late for the program is dropped.
  void drop();

 private:
  struct Waiting {
    signalfd_siginfo info;
    uint64_t until_ns;
    bool is_from_below;       // of the program, or of a process that it started
    bool is_to_init = false;  // and, so far, to no other process of ours
  };
  // One that came directly, or through the init, and not yet the other way as well.
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
  uint64_t ignored_ns_ = 0;                 // when a signal came that the program ignores; 0: none yet
};

}  // namespace heapprof::cli
