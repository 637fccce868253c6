// cli/top/live_terminal.cc: the guard is a process, because a signal handler could restore the terminal after a crash
// but not after kill -9, and would need globals. A separate process notices every end, because then the pipe from which
// it reads is closed.
#include "cli/top/live_terminal.h"

#include "cli/base/byte_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace heapprof::cli {

namespace {

// kEnter: alternate screen, no cursor, no line wrap. kLeave: the opposite.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[2J";
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";

// Runs in the guard. A byte on the pipe means that the terminal has been restored.
[[noreturn]] void guard(int pipe, const termios& before) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);  // also SIGTTOU, as it may be in the background at the end
  syscall(SYS_close_range, 3, static_cast<unsigned>(pipe) - 1, 0);
  syscall(SYS_close_range, static_cast<unsigned>(pipe) + 1, ~0u, 0);
  char word = 0;
  ssize_t got = 0;
  do {
    got = read(pipe, &word, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 0) {
    [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, kLeave.data(), kLeave.size());
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
  }
  _exit(0);
}

}  // namespace

void LiveTerminal::start_guard() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  UniqueFd read_end(ends[0]);
  guard_ = UniqueFd(ends[1]);
  guard_pid_ = fork();
  if (guard_pid_ == 0) {
    guard_.reset();
    guard(read_end.get(), before_);
  }
  if (guard_pid_ < 0) guard_.reset();
}

bool LiveTerminal::enter(Stops stops) {
  if (is_entered_) return true;
  if (isatty(STDOUT_FILENO) != 1 || tcgetattr(STDIN_FILENO, &before_) != 0) return false;
  start_guard();
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON);  // Ctrl-S would block our writes, and so our signal handling
  if (stops == Stops::kDisabled) raw.c_cc[VSUSP] = _POSIX_VDISABLE;
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  is_entered_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0 && write(kEnter);
  return is_entered_;
}

void LiveTerminal::leave() {
  if (is_entered_) {
    is_entered_ = false;
    write(kLeave);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  if (!guard_.is_open()) return;
  [[maybe_unused]] const ssize_t written = ::write(guard_.get(), "w", 1);
  guard_.reset();
  while (waitpid(guard_pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

ScreenSize LiveTerminal::size() {
  winsize known{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &known) != 0 || known.ws_col == 0 || known.ws_row == 0) return {};
  return {known.ws_col, known.ws_row};
}

bool LiveTerminal::write(std::string_view bytes) { return write_fully(STDOUT_FILENO, bytes) == 0; }

std::optional<std::string> LiveTerminal::read() {
  pollfd waiting{STDIN_FILENO, POLLIN, 0};
  if (poll(&waiting, 1, 0) <= 0) return "";
  char typed[256];
  const ssize_t got = ::read(STDIN_FILENO, typed, sizeof typed);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return "";
  if (got < 0 || (got == 0 && (waiting.revents & (POLLHUP | POLLERR)) != 0)) return std::nullopt;
  return std::string(typed, static_cast<size_t>(got));
}

}  // namespace heapprof::cli
