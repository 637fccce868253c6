// cli/top/snapshot_job.cc: see snapshot_job.h.
#include "cli/top/snapshot_job.h"

#include "cli/base/byte_sink.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/target/snapshot_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace heapprof::cli {

namespace {

std::string words_of(pid_t of, const std::string& path) {
  const Result<SnapshotTaken> taken = ask_for_snapshot(of, path, false);
  if (!taken) return escape_controls(taken.problem().what);
  return fmt::format("saved {}  {}", escape_controls(taken->path), format_bytes(taken->size_bytes));
}

}  // namespace

SnapshotJob::~SnapshotJob() {
  if (is_running()) kill(asker_, SIGKILL);
  if (is_running()) waitpid(asker_, nullptr, 0);
}

void SnapshotJob::start(pid_t of, const std::string& path) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  words_ = UniqueFd(ends[0]);
  UniqueFd write_end(ends[1]);
  asker_ = fork();
  if (asker_ == 0) {
    // Closes the pipe of the terminal's guard, among others: the guard waits until all processes have closed it.
    dup2(write_end.get(), STDERR_FILENO);
    syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0);
    write_fully(STDERR_FILENO, words_of(of, path));
    _exit(0);
  }
}

std::string SnapshotJob::take() {
  std::string words;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(words_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    words.append(buffer, static_cast<size_t>(got));
  }
  words_.reset();
  if (asker_ > 0) waitpid(asker_, nullptr, 0);
  return words.empty() ? "no snapshot: out of memory" : words;
}

}  // namespace heapprof::cli
