// cli/base/end_signal.cc: see end_signal.h.
#include "cli/base/end_signal.h"

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>

namespace heapprof::cli {

void end_by_signal(int number) {
  std::fflush(nullptr);
  ::prctl(PR_SET_DUMPABLE, 0);  // RLIMIT_CORE does not apply if core files are piped to a program
  std::signal(number, SIG_DFL);
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, number);
  ::sigprocmask(SIG_UNBLOCK, &wanted, nullptr);
  std::raise(number);
}

}  // namespace heapprof::cli
