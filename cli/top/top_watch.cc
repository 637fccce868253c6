// cli/top/top_watch.cc: one loop waits for everything at once: answers, names, keys, signals, and the time of the next
// sample.
//
// Signals are read from a signalfd, as in `run` (cli/run/signals.cc). A frozen view shows a copy of the board. The
// board itself continues to take samples, so that it is up to date when the view is unfrozen.
#include "cli/top/top_watch.h"

#include "cli/base/clock.h"
#include "cli/base/fd.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/target/process_facts.h"
#include "cli/target/top_client.h"
#include "cli/top/key_press.h"
#include "cli/top/live_terminal.h"
#include "cli/top/paint_lines.h"
#include "cli/top/snapshot_job.h"
#include "cli/top/top_end_text.h"
#include "cli/top/top_json.h"
#include "cli/top/top_screen.h"
#include "cli/write/text/run_text.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr uint64_t kNamesShare = 20;  // names take at most a twentieth of the time
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kUnknownPatienceNs = 3 * kSecondNs;  // an exec may take this long
constexpr uint64_t kSilencePatienceNs = 5 * kSecondNs;  // then "does not answer" is shown
constexpr uint64_t kStartPatienceNs = 60 * kSecondNs;   // of `run --live`: until the first allocation
constexpr uint64_t kNamesPatienceNs = 60 * kSecondNs;   // of --once, for names
constexpr useconds_t kStartStepUs = 20'000;

bool is_there(pid_t pid) {
  struct stat facts {};
  return stat(("/proc/" + std::to_string(pid)).c_str(), &facts) == 0;
}

// If a process has written a title over its command line (setproctitle), blanks and zeros of the old command line
// follow the title; these are removed.
std::string command_of(pid_t pid) {
  std::vector<std::string> command = process_command(pid);
  while (!command.empty() && command.back().find_first_not_of(' ') == std::string::npos) command.pop_back();
  if (!command.empty()) command.back().erase(command.back().find_last_not_of(' ') + 1);
  return command_text(command);
}

// Blocks the signals that a view has to handle, and reads them; the destructor restores the mask.
class ViewSignals {
 public:
  ViewSignals() {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH}) sigaddset(&watched, number);
    sigprocmask(SIG_BLOCK, &watched, &before_);
    fd_ = UniqueFd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~ViewSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  ViewSignals(const ViewSignals&) = delete;
  ViewSignals& operator=(const ViewSignals&) = delete;

  int fd() const { return fd_.get(); }
  // The next signal; 0: there are no more.
  int take() const {
    signalfd_siginfo info;
    return read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo)
                                                                                    : 0;
  }
  // Stops this process, as SIGTSTP would have; returns when it is continued.
  static void stop() {
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stops, nullptr);
    raise(SIGTSTP);
    sigprocmask(SIG_BLOCK, &stops, nullptr);
  }

 private:
  sigset_t before_{};
  UniqueFd fd_;
};

class TopWatch {
 public:
  TopWatch(const TopOptions& options, TopClient client)
      : options_(options), client_(std::move(client)), look_(inspect_terminal(STDOUT_FILENO, options.color)) {
    view_.interval_ns = options.interval_ns;
    view_.sort = options.sort;
  }

  Result<int> once(TopReply reply);
  Result<int> lines(TopReply reply);
  Result<int> screen(TopReply reply);

 private:
  void take_reply(TopReply reply);
  void take_names();
  void ask_for_names(uint64_t now_ns);
  void ask_when_due();
  void listen();
  bool is_done() const { return end_ || problem_ || exit_code_; }
  Result<int> result();
  void wait(const ViewSignals* signals);
  void press(const KeyPress& press);
  void press_while_typing(const KeyPress& press);
  void scroll(ptrdiff_t rows);
  void handle(int signal);
  void draw();
  const TopBoard& shown() const { return frozen_ ? *frozen_ : board_; }
  LiveTerminal::Stops stops() const {
    return options_.is_of_run ? LiveTerminal::Stops::kDisabled : LiveTerminal::Stops::kAllowed;
  }

  const TopOptions& options_;
  TopClient client_;
  Terminal look_;
  TopBoard board_;
  TopView view_;
  std::optional<TopBoard> frozen_;
  uint64_t image_ = 0;
  bool is_asked_ = true;    // a sample was requested; TopClient::open() requests the first
  bool is_new_ = false;     // a complete sample has not been shown yet
  bool is_ending_ = false;  // the process has ended, and its profile is being written
  uint64_t asked_ns_ = monotonic_ns();
  uint64_t unknown_since_ns_ = 0;  // 0: the process is known
  UniqueFd names_;
  uint64_t names_asked_ns_ = 0;
  bool was_named_ = false;  // names have been received at least once
  uint64_t names_next_ns_ = 0;
  SnapshotJob snapshot_;
  LiveTerminal terminal_;
  std::vector<std::string> painted_;
  std::string typed_;
  std::optional<TopEnd> end_;
  std::optional<Problem> problem_;
  std::optional<int> exit_code_;
};

void TopWatch::take_reply(TopReply reply) {
  const std::string shown_pid = std::to_string(options_.pid);
  if (reply.pid != 0 && view_.pid != reply.pid) {
    view_.pid = reply.pid;
    view_.command = command_of(reply.pid);
  }
  unknown_since_ns_ = reply.status == TopStatus::kUnknown ? unknown_since_ns_ : 0;
  switch (reply.status) {
    case TopStatus::kSample: {
      const std::optional<TopSample> sample = parse_top_sample(reply.bytes);
      if (!sample) {
        problem_ = top_refused(shown_pid, "its heapprof sent invalid numbers");
        return;
      }
      if (image_ != reply.image) {
        image_ = reply.image;
        board_.forget();
        view_.command = command_of(view_.pid);
        names_.reset();
        names_next_ns_ = 0;
        was_named_ = false;
      }
      board_.take(*sample, monotonic_ns());
      is_asked_ = false;
      if (!sample->is_whole) {
        is_asked_ = client_.ask_sample(false);
      } else {
        is_new_ = true;
      }
      return;
    }
    case TopStatus::kEnding:
      is_ending_ = true;
      if (options_.is_of_run) exit_code_ = 0;  // the run prints the rest
      return;
    case TopStatus::kEnded: {
      end_ = parse_top_end(reply.bytes);
      if (!end_) problem_ = top_refused(shown_pid, "its heapprof sent invalid numbers");
      return;
    }
    case TopStatus::kUnknown:
      is_asked_ = false;
      if (unknown_since_ns_ == 0) unknown_since_ns_ = monotonic_ns();
      if (monotonic_ns() - unknown_since_ns_ > kUnknownPatienceNs)
        problem_ = top_refused(shown_pid, "it is not profiled any more: it went on as another program");
      return;
    case TopStatus::kNames:
    case TopStatus::kProcesses:
    case TopStatus::kRefused: break;
  }
  problem_ = top_refused(shown_pid, reply.text.empty() ? "its heapprof refuses" : escape_controls(reply.text));
}

void TopWatch::ask_for_names(uint64_t now_ns) {
  if (names_.is_open() || is_ending_ || now_ns < names_next_ns_ || !board_.has_sample() || !board_.lacks_names())
    return;
  names_asked_ns_ = now_ns;
  names_ = client_.ask_names();
  if (!names_.is_open()) names_next_ns_ = now_ns + kSilencePatienceNs;
}

void TopWatch::take_names() {
  std::optional<TopReply> reply = take_top_reply(names_.get());
  names_.reset();
  const uint64_t now_ns = monotonic_ns();
  names_next_ns_ = now_ns + std::max(kSecondNs, (now_ns - names_asked_ns_) * kNamesShare);
  if (!reply || reply->status != TopStatus::kNames || reply->image != image_) return;
  was_named_ = true;
  if (std::optional<TopNames> names = parse_top_names(reply->bytes)) board_.take_names(std::move(*names));
}

void TopWatch::ask_when_due() {
  const uint64_t now_ns = monotonic_ns();
  ask_for_names(now_ns);
  if (is_asked_ || is_ending_ || now_ns < asked_ns_ + options_.interval_ns) return;
  // If we were stopped for a while, the missed samples are skipped.
  asked_ns_ = now_ns - asked_ns_ > 2 * options_.interval_ns ? now_ns : asked_ns_ + options_.interval_ns;
  is_asked_ = client_.ask_sample(false);
}

// Called when the connection has an answer or has ended.
void TopWatch::listen() {
  if (std::optional<TopReply> reply = take_top_reply(client_.fd())) return take_reply(std::move(*reply));
  problem_ =
      top_refused(std::to_string(options_.pid), "its heapprof has ended, and what it was about to write is lost");
}

void TopWatch::wait(const ViewSignals* signals) {
  std::vector<pollfd> waiting = {{client_.fd(), POLLIN, 0}};
  waiting.push_back({names_.get(), POLLIN, 0});  // poll ignores a descriptor of -1
  waiting.push_back({snapshot_.fd(), POLLIN, 0});
  waiting.push_back({signals != nullptr ? signals->fd() : -1, POLLIN, 0});
  waiting.push_back({terminal_.is_entered() ? STDIN_FILENO : -1, POLLIN, 0});
  const uint64_t now_ns = monotonic_ns();
  uint64_t until_ns = is_asked_ || is_ending_ ? now_ns + kSecondNs : asked_ns_ + options_.interval_ns;
  if (board_.lacks_names() && !names_.is_open()) until_ns = std::min(until_ns, std::max(now_ns, names_next_ns_));
  const uint64_t sleep_ns = until_ns > now_ns ? until_ns - now_ns : 0;
  const timespec timeout{static_cast<time_t>(sleep_ns / kSecondNs), static_cast<long>(sleep_ns % kSecondNs)};
  if (ppoll(waiting.data(), waiting.size(), &timeout, nullptr) > 0) {
    if (waiting[0].revents != 0) listen();
    if (waiting[1].revents != 0 && names_.is_open()) take_names();
    if (waiting[2].revents != 0) view_.message = snapshot_.take();
    for (int signal = 0; waiting[3].revents != 0 && (signal = signals->take()) != 0;) handle(signal);
    if (waiting[4].revents != 0 && terminal_.is_entered()) {
      const std::optional<std::string> read = LiveTerminal::read();
      if (!read) exit_code_ = 128 + SIGHUP;  // the terminal is gone
      typed_ += read.value_or("");
      for (const KeyPress& one : take_keys(&typed_)) press(one);
    }
  }
  if (!is_done()) ask_when_due();
}

Result<int> TopWatch::result() {
  if (problem_) return *problem_;
  if (exit_code_) return *exit_code_;
  if (!options_.is_of_run) {
    const std::string text = top_end_text(view_.pid, *end_, inspect_terminal(STDERR_FILENO, options_.color));
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  return 0;
}

// Waits for two samples, because rates need an interval, and for names, unless they take too long.
Result<int> TopWatch::once(TopReply reply) {
  take_reply(std::move(reply));
  const uint64_t give_up_ns = monotonic_ns() + kNamesPatienceNs;
  const auto needs_more = [&] {
    const bool lacks_names = !was_named_ && board_.lacks_names() && monotonic_ns() < give_up_ns;
    return board_.samples() < 2 || (lacks_names && !is_ending_);
  };
  while (!is_done() && needs_more()) wait(nullptr);
  if (problem_) return *problem_;
  if (!board_.has_sample()) return result();
  view_.pid = view_.pid == 0 ? options_.pid : view_.pid;
  if (options_.format == TopFormat::kJson)
    return print_output(top_json(board_, view_.pid, view_.command, options_.sort));
  std::string text;
  for (const std::string& line : top_report(board_, view_, look_)) text += line + "\n";
  return print_output(text);
}

Result<int> TopWatch::lines(TopReply reply) {
  take_reply(std::move(reply));
  while (!is_done()) {
    if (std::exchange(is_new_, false) && board_.samples() > 1) {
      if (const int code = print_output(top_line(board_, look_) + "\n"); code != 0) return code;
    }
    wait(nullptr);
  }
  return result();
}

Result<int> TopWatch::screen(TopReply reply) {
  const ViewSignals signals;
  if (!terminal_.enter(stops())) return lines(std::move(reply));
  take_reply(std::move(reply));
  while (!is_done()) {
    draw();
    if (!is_done()) wait(&signals);
  }
  terminal_.leave();
  return result();
}

void TopWatch::draw() {
  std::string standing;  // a message that is shown as long as its reason lasts
  if (is_ending_) standing = "the program has ended, its profile is being written";
  if (is_asked_ && monotonic_ns() - asked_ns_ > kSilencePatienceNs + options_.interval_ns)
    standing = "its heapprof does not answer: it is stopped, or has much to do";
  const std::string message = view_.message;
  if (!standing.empty()) view_.message = standing;
  std::vector<std::string> wanted = draw_top(shown(), &view_, LiveTerminal::size(), look_);
  view_.message = message;
  if (painted_.size() != wanted.size()) painted_.clear();
  const std::string bytes = paint_lines(painted_, wanted);
  painted_ = std::move(wanted);
  if (!bytes.empty() && !LiveTerminal::write(bytes)) exit_code_ = 128 + SIGHUP;
}

void TopWatch::handle(int signal) {
  switch (signal) {
    case SIGWINCH: painted_.clear(); return;
    case SIGTSTP:
      if (options_.is_of_run) return;
      terminal_.leave();
      ViewSignals::stop();
      [[fallthrough]];
    case SIGCONT:
      terminal_.leave();
      if (!terminal_.enter(stops())) exit_code_ = 128 + SIGHUP;
      painted_.clear();
      return;
    default: exit_code_ = 128 + signal;
  }
}

void TopWatch::scroll(ptrdiff_t rows) {
  const auto before = static_cast<ptrdiff_t>(std::min<size_t>(view_.scroll, PTRDIFF_MAX / 2));
  view_.scroll = static_cast<size_t>(std::max<ptrdiff_t>(0, before + rows));
}

void TopWatch::press_while_typing(const KeyPress& press) {
  constexpr size_t kLongestFilter = 256;
  view_.scroll = 0;
  switch (press.key) {
    case PressedKey::kText:
      if (view_.filter.size() < kLongestFilter) view_.filter += press.text;
      return;
    case PressedKey::kBackspace:
      while (!view_.filter.empty() && (static_cast<unsigned char>(view_.filter.back()) & 0xc0) == 0x80)
        view_.filter.pop_back();
      if (!view_.filter.empty()) view_.filter.pop_back();
      return;
    case PressedKey::kEscape: view_.filter.clear(); [[fallthrough]];
    case PressedKey::kEnter: view_.is_typing = false; return;
    default: return;
  }
}

void TopWatch::press(const KeyPress& press) {
  if (view_.is_typing) return press_while_typing(press);
  view_.message.clear();
  const ptrdiff_t page = std::max(1, LiveTerminal::size().lines / 2);
  switch (press.key) {
    case PressedKey::kUp: return scroll(-1);
    case PressedKey::kDown: return scroll(1);
    case PressedKey::kPageUp: return scroll(-page);
    case PressedKey::kPageDown: return scroll(page);
    case PressedKey::kHome: view_.scroll = 0; return;
    case PressedKey::kEnd: return scroll(PTRDIFF_MAX / 4);
    case PressedKey::kEscape:
      view_.filter.clear();
      view_.shows_help = false;
      return;
    case PressedKey::kText: break;
    default: return;
  }
  switch (press.text[0]) {
    case 'q': exit_code_ = 0; return;
    case 'd':
      view_.device = shown().devices().empty() ? 0 : (view_.device + 1) % shown().devices().size();
      view_.scroll = 0;
      return;
    case 's':
      view_.sort = view_.sort == TopSort::kLive     ? TopSort::kGrowth
                   : view_.sort == TopSort::kGrowth ? TopSort::kAllocations
                                                    : TopSort::kLive;
      return;
    case 'f':
    case '/': view_.is_typing = true; return;
    case ' ':
      frozen_ = frozen_ ? std::nullopt : std::optional(board_);
      view_.is_frozen = frozen_.has_value();
      return;
    case 'w':
      if (!options_.snapshot_path || snapshot_.is_running()) return;
      view_.message = "writing a snapshot";
      snapshot_.start(view_.pid, options_.snapshot_path(view_.pid));
      return;
    case '?': view_.shows_help = !view_.shows_help; return;
    default: return;
  }
}

}  // namespace

Result<int> watch_top(const TopOptions& options) {
  const uint64_t give_up_ns = monotonic_ns() + kStartPatienceNs;
  Result<std::pair<TopClient, TopReply>> opened = TopClient::open(options.pid);
  while (!opened && options.is_of_run && is_there(options.pid) && monotonic_ns() < give_up_ns) {
    usleep(kStartStepUs);
    opened = TopClient::open(options.pid);
  }
  if (!opened) return opened.problem();
  TopWatch watch(options, std::move(opened->first));
  if (options.is_once) return watch.once(std::move(opened->second));
  if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1) return watch.screen(std::move(opened->second));
  return watch.lines(std::move(opened->second));
}

}  // namespace heapprof::cli
