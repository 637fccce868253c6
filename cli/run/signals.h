// cli/run/signals.h: what a signal to `heapprof run` means.
//
// Guarantees
//  - A terminal's Ctrl-C reaches the program by itself (it is in our process group): we wait for its end and write.
//  - What a process sends to us is handed on to the program. A second one means: write what there is and leave.
//  - SIGTSTP, SIGTTIN, SIGTTOU do not stop us: a stopped collector would stop the program. SIGXFSZ does not end us: a
//    file that may not grow is an error like any other.
#pragma once

#include "cli/base/fd.h"

#include <signal.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace heapprof::cli {

class SignalWatch {
 public:
  SignalWatch();   // blocks SIGINT, SIGTERM, SIGHUP, SIGQUIT and ignores the signals named above
  ~SignalWatch();  // all as it was: the next program of `check` inherits nothing of this one's
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // What the program is to inherit.
  const sigset_t& previous_mask() const { return previous_; }
  const std::vector<std::pair<int, struct sigaction>>& previous_actions() const { return previous_actions_; }
  int fd() const { return fd_.get(); }
  // Takes what has arrived; hands on to `pid`, a child that has not been waited for. Not 0: leave now, this signal says
  // so. With pid 0 there is no program left to hand on to: the first one says so.
  int handle(pid_t pid);

 private:
  sigset_t previous_{};
  std::vector<std::pair<int, struct sigaction>> previous_actions_;
  UniqueFd fd_;
  uint64_t first_ns_ = 0;  // when the first signal came; 0: none yet
};

}  // namespace heapprof::cli
