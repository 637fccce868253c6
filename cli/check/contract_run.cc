// cli/check/contract_run.cc: the claims about a run other than its memory.
//
// A claim about a file asks whether *this* run wrote it. The file alone does not show that, so its identity, size and
// times are noted before the run, down to the nanosecond: if all are unchanged, it was not written. The times include
// the ctime, because a program can set a file's mtime back.
//
// A contract may say that a program runs without heapprof. It is started here with the signals and the environment that
// it would have without heapprof.
#include "cli/check/contract_run.h"

#include "cli/base/fd.h"
#include "cli/base/problems.h"
#include "cli/base/units.h"
#include "cli/run/signals.h"
#include "cli/write/text/run_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

namespace heapprof::cli {
namespace {

bool is_same(const RunEnd& a, const RunEnd& b) { return a.kind == b.kind && a.status == b.status; }

std::optional<struct stat> look(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? std::optional(facts) : std::nullopt;
}

bool is_untouched(const struct stat& before, const struct stat& after) {
  return before.st_dev == after.st_dev && before.st_ino == after.st_ino && before.st_size == after.st_size &&
         before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec &&
         before.st_ctim.tv_sec == after.st_ctim.tv_sec && before.st_ctim.tv_nsec == after.st_ctim.tv_nsec;
}

// The number that the first digits in the file's first 64 KiB form.
std::optional<uint64_t> first_number(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  std::array<char, 64 << 10> buffer;
  const ssize_t got = fd.is_open() ? ::read(fd.get(), buffer.data(), buffer.size()) : 0;
  const std::string_view text(buffer.data(), got > 0 ? static_cast<size_t>(got) : 0);
  const size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return std::nullopt;
  return parse_count(text.substr(begin, text.find_first_not_of("0123456789", begin) - begin));
}

std::string amount(uint64_t value, bool is_bytes) { return is_bytes ? format_bytes(value) : format_count_exact(value); }

Judged fact(const FileLine& at, bool holds, Fact words) {
  Judged line;
  line.at = at;
  line.outcome = holds ? Outcome::kOk : Outcome::kFail;
  line.fact = std::move(words);
  return line;
}

Judged in_range(const FileClaim& claim, const char* what, const Expectation& range, std::optional<uint64_t> value,
                bool is_bytes) {
  const bool holds = value && *value >= range.least && *value <= range.most;
  // A value just outside the range would, rounded, read like the range's end.
  const bool is_rounded = is_bytes && value && !holds;
  const auto show = [&](uint64_t number) {
    return is_rounded ? format_count_exact(number) + " B" : amount(number, is_bytes);
  };
  return fact(
      claim.at, holds,
      {fmt::format("{} {}", what, claim.path), value ? show(*value) : "none",
       range.least == range.most ? show(range.least) : fmt::format("{} to {}", show(range.least), show(range.most))});
}

// Runs in the child. Not posix_spawn: glibc's leaves two signals ignored, and the program must start as it would
// without heapprof.
[[noreturn]] void become(const std::vector<char*>& arguments, const SignalWatch& signals, const Inherited& inherited,
                         pid_t parent, int error_fd) {
  signals.enter_program();
  inherited.enter_program(parent);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(error_fd, &error, sizeof error);
  _exit(127);
}

// Waits for the child. Forwards signals that a process sends to heapprof, as `run` does.
RunEnd wait_for(pid_t child, SignalWatch* signals) {
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  for (;;) {
    std::vector<pollfd> events = {{pidfd.get(), POLLIN, 0}};
    signals->add_waiting(&events);
    poll(events.data(), events.size(), pidfd.is_open() && !signals->is_holding() ? -1 : 10);
    int status = 0;
    const pid_t changed = waitpid(child, &status, WNOHANG | WUNTRACED);
    if (changed == child && WIFSTOPPED(status)) {
      signals->stop_with(child, WSTOPSIG(status));
      continue;
    }
    if (changed == child) take_terminal_back(child);
    if (changed == child && WIFSIGNALED(status)) return {EndKind::kSignaled, WTERMSIG(status)};
    if (changed == child) return {EndKind::kExited, WEXITSTATUS(status)};
    if (changed < 0 && errno != EINTR) return {};
    if (signals->handle(child) != 0) return {EndKind::kDetached, 0};
  }
}

}  // namespace

RunState state_for(const Budget& budget, const Profile& profile, bool warn_only) {
  RunState state = find_run_state(profile);
  if (!budget.contract || !budget.contract->end) return state;
  if (warn_only && state.trouble == Trouble::kNone && !ended_as_claimed(budget, state.end))
    state.trouble = Trouble::kProgramFailed;
  if (state.trouble != Trouble::kProgramFailed || (warn_only && !ended_as_claimed(budget, state.end))) return state;
  state.trouble = state.is_whole ? Trouble::kNone : Trouble::kIncomplete;
  return state;
}

bool ended_as_claimed(const Budget& budget, const RunEnd& end) {
  return !budget.contract || !budget.contract->end || is_same(budget.contract->end->end, end);
}

ContractRun::ContractRun(const Contract& contract) : contract_(contract) {
  for (const FileClaim& file : contract.files) before_.push_back(look(file.path));
}

void ContractRun::judge_file(const FileClaim& claim, const std::optional<struct stat>& before,
                             std::vector<Judged>* lines) const {
  const std::optional<struct stat> after = look(claim.path);
  const bool is_written = after && !(before && is_untouched(*before, *after));
  const char* found = !after ? "missing" : is_written ? "written" : "there before, and not written";
  lines->push_back(fact(claim.at, is_written, {claim.path, found, "written"}));
  if (!is_written) return;
  std::optional<uint64_t> bytes;  // folders and pipes have no size
  if (S_ISREG(after->st_mode)) bytes = static_cast<uint64_t>(after->st_size);
  if (claim.size) lines->push_back(in_range(claim, "size of", *claim.size, bytes, true));
  if (claim.number)
    lines->push_back(in_range(claim, "number in", *claim.number, first_number(claim.path), claim.number_is_bytes));
}

std::vector<Judged> ContractRun::judge(const RunEnd& end) const {
  std::vector<Judged> lines;
  if (contract_.end) {
    const EndClaim& claim = *contract_.end;
    lines.push_back(fact(claim.at, is_same(claim.end, end), {"end", end_text(end), end_text(claim.end)}));
  }
  for (size_t i = 0; i < contract_.files.size(); ++i) judge_file(contract_.files[i], before_[i], &lines);
  return lines;
}

Result<RunEnd> run_unprofiled(const std::vector<std::string>& command, const Inherited& inherited) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  SignalWatch signals;  // a terminal's Ctrl-C is for the program: we wait for its end
  if (signals.error() != 0) return launch_failed(command[0], errno_text(signals.error()));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return launch_failed(command[0], errno_text(errno));
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child < 0) return launch_failed(command[0], errno_text(errno));
  if (child == 0) become(arguments, signals, inherited, self, write_end.get());
  write_end.reset();
  int error = 0;
  ssize_t got;
  do {
    got = read(read_end.get(), &error, sizeof error);  // returns when exec closes the other end
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof error)) return wait_for(child, &signals);
  waitpid(child, nullptr, 0);
  if (error == ENOENT || error == ENOTDIR) return program_not_found(command[0]);
  if (error == EACCES || error == ENOEXEC) return program_not_executable(command[0], errno_text(error));
  return launch_failed(command[0], errno_text(error));
}

void add_facts(const ContractRun& contract, Verdict* verdict) {
  std::vector<Judged> facts = contract.judge(verdict->state.end);
  verdict->judged.insert(verdict->judged.end(), facts.begin(), facts.end());
}

bool was_stopped(const Budget& budget, const RunEnd& end) {
  if (end.kind == EndKind::kDetached) return true;
  const bool is_claimed = budget.contract && budget.contract->end && ended_as_claimed(budget, end);
  return end.kind == EndKind::kSignaled && end.status == SIGINT && !is_claimed;
}

}  // namespace heapprof::cli
