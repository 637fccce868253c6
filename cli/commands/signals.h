// cli/commands/signals.h: what a signal to `heapprof run` means.
//
// Guarantees
//  - A terminal's Ctrl-C reaches the program by itself (it is in our process group): we wait for its end and write.
//  - What a process sends to us is handed on to the program. A second one means: write what there is and leave.
//  - SIGTSTP, SIGTTIN, SIGTTOU do not stop us: a stopped collector would stop the program.
#pragma once

#include "cli/base/fd.h"

#include <signal.h>

namespace heapprof::cli {

class SignalWatch {
 public:
  SignalWatch();  // blocks SIGINT, SIGTERM, SIGHUP, SIGQUIT and ignores the terminal's stop signals

  const sigset_t& previous_mask() const { return previous_; }
  int fd() const { return fd_.get(); }
  // Takes what has arrived; hands on to `pid`. True: leave now.
  bool handle(int pidfd);

 private:
  sigset_t previous_{};
  UniqueFd fd_;
  int received_ = 0;
};

}  // namespace heapprof::cli
