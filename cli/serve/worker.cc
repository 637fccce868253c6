// cli/serve/worker.cc: a worker writes its result to a memfd, from which the server sends it. A pipe tells the server
// when the result is complete.
#include "cli/serve/worker.h"

#include "cli/base/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr size_t kMostAtWork = 4;
constexpr size_t kMostWaiting = 256;

// Closes all inherited descriptors but these. Otherwise clients' connections would stay open for as long as the worker
// lives.
void close_others(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned next = STDERR_FILENO + 1;
  for (const int fd : kept) {
    const auto number = static_cast<unsigned>(fd);
    if (number > next) syscall(SYS_close_range, next, number - 1, 0);
    next = std::max(next, number + 1);
  }
  syscall(SYS_close_range, next, ~0u, 0);
}

[[noreturn]] void make(const Work& work, int words, int file, pid_t server) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server) _exit(0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::vector<int> kept = work.descriptors;
  kept.insert(kept.end(), {words, file});
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= STDERR_FILENO && null >= 0; ++fd) dup2(null, fd);
  close_others(kept);
  int status = 500;
  try {
    FdSink sink(file, "the answer");
    status = work.make(&sink);
    if (!sink.finish()) status = 500;
  } catch (const std::exception&) {  // out of memory
    status = 500;
  }
  static_cast<void>(write(words, &status, sizeof status));
  _exit(0);
}

}  // namespace

Workers::~Workers() {
  for (Running& running : running_) {
    kill(running.pid, SIGKILL);
    waitpid(running.pid, nullptr, 0);
  }
}

bool Workers::start(Work work) {
  if (waiting_.size() >= kMostWaiting) return false;
  waiting_.push_back(std::move(work));
  fork_next();
  return true;
}

void Workers::fork_next() {
  while (!waiting_.empty() && running_.size() < kMostAtWork) {
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    int ends[2] = {-1, -1};
    UniqueFd file(memfd_create("heapprof-serve", MFD_CLOEXEC));
    if (!file.is_open() || pipe2(ends, O_CLOEXEC) != 0) ends[0] = -1;
    UniqueFd words(ends[0]);
    const UniqueFd write_end(ends[1]);
    const pid_t server = getpid();
    const pid_t pid = words.is_open() ? fork() : -1;
    if (pid == 0) make(work, write_end.get(), file.get(), server);
    if (pid < 0) words.reset();  // there is no worker to wait for
    running_.push_back(
        {pid, std::move(words), std::move(file), monotonic_ns() + work.patience_ns, std::move(work.done)});
  }
}

void Workers::add_waiting(std::vector<pollfd>* waiting) const {
  for (const Running& running : running_) {
    if (running.words.is_open()) waiting->push_back({running.words.get(), POLLIN, 0});
  }
}

WorkDone Workers::take(Running* running, bool is_late) {
  WorkDone done;
  if (running->pid < 0) return done;
  if (is_late) kill(running->pid, SIGKILL);
  int status = 0;
  if (!is_late && read(running->words.get(), &status, sizeof status) == static_cast<ssize_t>(sizeof status))
    done.status = status;
  waitpid(running->pid, nullptr, 0);
  struct stat facts {};
  if (fstat(running->file.get(), &facts) == 0) done.size_bytes = static_cast<uint64_t>(facts.st_size);
  done.file = std::move(running->file);
  return done;
}

void Workers::serve() {
  const uint64_t now_ns = monotonic_ns();
  for (auto running = running_.begin(); running != running_.end();) {
    const bool is_late = now_ns >= running->deadline_ns;
    pollfd words{running->words.get(), POLLIN, 0};
    if (running->pid >= 0 && !is_late && poll(&words, 1, 0) != 1) {
      ++running;
      continue;
    }
    Running ended = std::move(*running);
    running = running_.erase(running);
    ended.done(take(&ended, is_late));  // may start another worker
  }
  fork_next();
}

}  // namespace heapprof::cli
