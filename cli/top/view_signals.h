// cli/top/view_signals.h: the signals of a terminal, while a view has it.
#pragma once

#include "cli/base/fd.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace heapprof::cli {

// The signals that a view has to do something for; as they were before, when it goes.
class ViewSignals {
 public:
  ViewSignals() {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH}) sigaddset(&watched, number);
    sigprocmask(SIG_BLOCK, &watched, &before_);
    fd_ = UniqueFd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~ViewSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  ViewSignals(const ViewSignals&) = delete;
  ViewSignals& operator=(const ViewSignals&) = delete;

  int fd() const { return fd_.get(); }
  // 0: none is left.
  int take() const {
    signalfd_siginfo info;
    return read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo)
                                                                                    : 0;
  }
  // Stops here, as the signal would have; comes back when it is continued.
  static void stop() {
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stops, nullptr);
    raise(SIGTSTP);
    sigprocmask(SIG_BLOCK, &stops, nullptr);
  }

 private:
  sigset_t before_{};
  UniqueFd fd_;
};

}  // namespace heapprof::cli
