// cli/run/run_server.cc: the server is a forked child, as the view of run --live is (live_viewer.cc). Ctrl-C at the
// terminal reaches this process, too, but does not end it, because the program may handle Ctrl-C and run on.
#include "cli/run/run_server.h"

#include "cli/base/problems.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr int kServerPatience = 100;  // steps
constexpr useconds_t kServerPatienceStepUs = 10'000;

}  // namespace

Result<Done> RunServer::open(const RunOptions& options) {
  if (options.serve.empty()) return Done{};
  Result<std::string> token = read_token(options.token_file, kServeTokenVariable);
  if (!token) return token.problem();
  serve_.token = std::move(*token);
  const Result<ListenAddress> address = parse_listen_address(options.serve);
  if (!address) return address.problem();
  if (serve_.token.empty() && !address->is_loopback()) return listen_needs_token(address->text());
  Result<Listener> listener = listen_at(*address);
  if (!listener) return listener.problem();
  listener_ = std::move(*listener);
  return Done{};
}

void RunServer::start(const RunOptions& options, const SignalWatch& signals, Server* server) {
  if (!listener_) return;
  serve_.collector = server->path();
  serve_.is_quiet = options.quiet;
  serve_.is_of_run = true;
  const pid_t run = getpid();
  pid_ = fork();
  if (pid_ != 0) {
    listener_.reset();
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != run) _exit(0);
  server->abandon();
  sigprocmask(SIG_SETMASK, &signals.previous_mask(), nullptr);
  int code = 1;
  try {
    const Result<int> served = serve(std::move(serve_), std::move(*listener_));
    if (!served) print_problem(served.problem(), options.color);
    code = served ? *served : served.problem().exit_code;
  } catch (const std::exception&) {  // out of memory
  }
  _exit(code);
}

void RunServer::close() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  pid_t ended = 0;
  for (int i = 0; i < kServerPatience && (ended = waitpid(pid_, nullptr, WNOHANG)) == 0; ++i)
    usleep(kServerPatienceStepUs);
  if (ended == 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = 0;
}

}  // namespace heapprof::cli
