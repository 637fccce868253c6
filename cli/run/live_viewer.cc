// cli/run/live_viewer.cc: the view is a forked child and not a new program, because the fork has all that the view
// needs. It uses nothing of the collector.
#include "cli/run/live_viewer.h"

#include "cli/base/problems.h"
#include "cli/run/profile_path.h"
#include "cli/top/top_watch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

namespace heapprof::cli {

namespace {

constexpr int kPatience = 100;  // steps
constexpr useconds_t kPatienceStepUs = 10'000;

int view(pid_t program, const RunOptions& options, pid_t run) {
  TopOptions view;
  view.pid = program;
  view.color = options.color;
  view.snapshot_path = default_snapshot_path;
  view.is_of_run = true;
  const Result<int> code = watch_top(view);
  if (!code && getppid() != run) print_problem(code.problem(), options.color);  // else the run prints it
  return code ? *code : code.problem().exit_code;
}

}  // namespace

void LiveViewer::start(pid_t program, const RunOptions& options, const SignalWatch& signals, Server* server) {
  const pid_t run = getpid();
  pid_ = fork();
  if (pid_ != 0) return;
  server->abandon();
  sigprocmask(SIG_SETMASK, &signals.previous_mask(), nullptr);
  int code = 1;
  try {
    code = view(program, options, run);
  } catch (const std::exception&) {  // out of memory; the terminal has been given back by then
  }
  _exit(code);
}

void LiveViewer::close() {
  if (pid_ <= 0) return;
  pid_t ended = 0;
  for (int i = 0; i < kPatience && (ended = waitpid(pid_, nullptr, WNOHANG)) == 0; ++i) usleep(kPatienceStepUs);
  if (ended == 0) {
    kill(pid_, SIGTERM);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = 0;
}

}  // namespace heapprof::cli
