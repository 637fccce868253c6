// cli/run/init.cc: the init is a separate process, because its waitpid(-1) would also reap the run's own helpers, for
// which the run itself waits.
#include "cli/run/init.h"

#include "cli/base/end_signal.h"
#include "cli/run/signals.h"
#include "cli/target/process_facts.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heapprof::cli {

namespace {

bool is_reaper() {
  int is_set = 0;
  return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &is_set) == 0 && is_set != 0);
}

}  // namespace

std::optional<int> serve_as_init(const Inherited& inherited) {
  if (!is_reaper()) return std::nullopt;
  SignalWatch signals;
  if (signals.error() != 0) return std::nullopt;
  const pid_t self = getpid();
  const pid_t run = fork();
  if (run == 0) signals.enter_program();
  if (run == 0) inherited.enter_run(self);
  if (run == 0) SignalWatch::set_init();
  if (run <= 0) return std::nullopt;  // if fork fails, this process does the run, and orphans stay zombies
  inherited.drop_descriptors({}, false);
  for (;;) {
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
      if (pid != run) continue;
      if (WIFEXITED(status)) return WEXITSTATUS(status);
      if (WIFSIGNALED(status)) {
        end_by_signal(WTERMSIG(status));
        return 128 + WTERMSIG(status);  // we are PID 1
      }
      signals.stop_with(run, WSTOPSIG(status));
    }
    signals.wait_for_run(run);
  }
}

bool is_pid_of_run(pid_t pid) {
  if (pid == getpid()) return true;
  return pid == 1 && getppid() == 1 && process_executable(1) == process_executable(getpid());
}

}  // namespace heapprof::cli
