// cli/commands/signals.cc: see signals.h.
#include "cli/commands/signals.h"

#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapprof::cli {

SignalWatch::SignalWatch() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&watched, number);
  sigprocmask(SIG_BLOCK, &watched, &previous_);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (const int number : {SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ}) {
    struct sigaction previous {};
    if (sigaction(number, &ignore, &previous) == 0) previous_actions_.emplace_back(number, previous);
  }
  fd_ = UniqueFd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
}

bool SignalWatch::handle(int pidfd) {
  signalfd_siginfo info;
  while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    ++received_;
    if (received_ > 1) return true;
    const bool from_process = info.ssi_code <= 0;  // SI_USER and its kind; the terminal's are SI_KERNEL
    if (from_process) syscall(SYS_pidfd_send_signal, pidfd, info.ssi_signo, nullptr, 0);
  }
  return false;
}

}  // namespace heapprof::cli
