// cli/run/signals.cc: signals are read from a descriptor, so that nothing is interrupted by them.
//
// A handler could only set a flag, and the loop would have to look at it everywhere. A signalfd is one more thing to
// wait for. The price is that the signals have to be blocked, and a child inherits that: what was there before is kept,
// and put back in every child.
//
// Who sent a signal decides what it means. A terminal's Ctrl-C goes to the whole group, so the program has it already.
// One that a process sent was sent to us alone, and is handed on.
#include "cli/run/signals.h"

#include "cli/base/clock.h"
#include "cli/collect/clock.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace heapprof::cli {

namespace {

// `timeout` and shells signal the process and then its group: that is one wish, not two.
constexpr uint64_t kSecondAfterNs = 200'000'000;

}  // namespace

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
  // Ignored by our parent, our child's status would be lost.
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  struct sigaction previous {};
  if (sigaction(SIGCHLD, &usual, &previous) == 0) previous_actions_.emplace_back(SIGCHLD, previous);
  fd_ = UniqueFd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
}

SignalWatch::~SignalWatch() {
  signalfd_siginfo info;  // what came too late for the program must not end us before we have written
  while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
  }
  for (const auto& [number, action] : previous_actions_) sigaction(number, &action, nullptr);
  sigprocmask(SIG_SETMASK, &previous_, nullptr);
}

int SignalWatch::handle(pid_t pid) {
  signalfd_siginfo info;
  while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const auto number = static_cast<int>(info.ssi_signo);
    const uint64_t now_ns = monotonic_ns();
    if (first_ns_ != 0 && now_ns - first_ns_ >= kSecondAfterNs) return number;
    if (pid == 0 && first_ns_ == 0) return number;
    const bool from_process = info.ssi_code <= 0;  // SI_USER and its kind; the terminal's are SI_KERNEL
    if (from_process && pid != 0) kill(pid, number);
    if (first_ns_ == 0) first_ns_ = now_ns;
  }
  return 0;
}

}  // namespace heapprof::cli
