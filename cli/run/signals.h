// cli/run/signals.h: forwards signals between `heapprof run` and the program.
//
// Guarantees
//  - A signal that is sent to us is forwarded to the program once, with the value of a sigqueue(3). It is not forwarded
//    if the sender also sent it to the program itself (Ctrl-C at its terminal, a kill of its process group or control
//    group).
//  - If heapprof is two processes, an init and the run (init.h), a signal to one or both of them reaches the program
//    once.
//  - When the program is stopped (Ctrl-Z, a read of the terminal in the background), we stop by the same signal, so
//    that the shell notices. When we are continued, we continue the program.
//  - If the program is stopped because its own process group uses the terminal while our group is in the foreground, we
//    give its group the terminal instead (terminal_group.h).
//  - If we lead the session of a terminal, its hangup reaches the program. If the program's own group is in the
//    background, signals typed at the terminal reach that group.
//  - If we are sent SIGINT, SIGTERM, SIGHUP or SIGQUIT twice, and the program ignores or blocks the signal, we write
//    the profile so far and leave.
//  - If the program, or a descendant of it, sends a signal only to us, it was meant for the program's parent. We send
//    it to our own parent instead, except SIGCHLD, and unless our parent is PID 1 or in another PID namespace. If the
//    program sends a signal to its whole group, we forward it to no process of another group.
//  - SIGPIPE, SIGXFSZ and SIGXCPU that the kernel sends because of our own work do not end heapprof.
// Not provided: SIGKILL and SIGSTOP. In these cases heapprof guesses, and the guess may be wrong: (a) If the program is
//           sent other signals within the same 5 s (timers, ends of its children), it may get a signal to its group
//           twice, and our parent may miss a SIGTERM, SIGINT or SIGHUP from the program. (b) If SIGTERM, SIGINT or
//           SIGHUP is sent only to us, within 5 ms of the only other signal to the program in 5 s, it is taken for a
//           signal to the group, and not forwarded. This cannot happen with an init, which is in the group, too. (c) If
//           our parent is in our group, it may get other signals to the group twice. (d) If our parent is in another
//           group, it may miss a signal from the program: if the program gets another signal at that time, ends within
//           3 ms, or ignores that signal itself. (e) If a sender has ended, or lost its parent, before its signal is
//           handled, it is not recognised as a descendant of the program.
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
  SignalWatch();  // blocks all forwardable signals; ignores SIGPIPE and SIGXFSZ
  // The errno if the descriptors could not be opened, else 0. After an error, the object may only be destroyed.
  int error() const { return error_; }
  ~SignalWatch();  // restores all signal state, for the next program of `check`
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Called after vfork or fork in the child that becomes the program: restores its signal state. From then on, we are
  // notified when the program is sent a signal. Makes system calls only.
  void enter_program() const;

  // The mask that other children should inherit.
  const sigset_t& previous_mask() const { return previous_; }

  // Appends descriptors that become readable when handle() has something to do, or the program may have to be waited
  // for.
  void add_waiting(std::vector<pollfd>* waiting) const;
  // True if a signal is held back until it is known whether the program got it, too.
  bool is_holding() const { return !waiting_.empty(); }
  // Takes the signals that have arrived, and forwards them to `pid`, a child that has not been waited for. Returns a
  // signal that tells us to leave now, else 0. With pid 0, there is no program to forward to, and the first signal that
  // would end us is returned.
  int handle(pid_t pid);
  // Called by an init: waits for signals, and forwards them to the run `pid`, except signals that the kernel sent
  // because of our own work. The run drops signals that it also got itself. Signals from the run are sent to our own
  // parent.
  void wait_for_run(pid_t pid) const;
  // Called in the run: says that its parent is heapprof's init.
  static void set_init();
  // To be called every few milliseconds while the program `pid` lives.
  void follow_terminal(pid_t pid) { terminal_.tick(pid); }
  // Called when signal `number` has stopped the program `pid`: stops this process, and returns when both are continued.
  void stop_with(pid_t pid, int number);
  // Drops signals that arrived after the program's end.
  void drop();

 private:
  struct Waiting {
    signalfd_siginfo info;
    uint64_t until_ns;
    bool is_from_below;       // sent by the program, or by a process that it started
    bool is_to_init = false;  // sent to the init, and so far not to the run
  };
  // A signal that came directly or through the init, but not yet the other way, too.
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
  uint64_t programs_signal_ns_ = 0;         // when the program was last seen to be sent a signal
  uint64_t programs_signal_before_ns_ = 0;  // and the time before that
  mutable bool is_watching_ = false;        // a signal to the program would have ended the last wait
  std::deque<Single> singles_;              // of the last second, oldest first
  uint64_t ignored_ns_ = 0;                 // when an ending signal first came that the program ignores; 0: not yet
};

}  // namespace heapprof::cli
