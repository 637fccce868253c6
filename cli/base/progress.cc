// cli/base/progress.cc: a waiting user sees that something moves, and a log does not get a thousand lines.
//
// After half a second, one line is drawn, and then redrawn in place. Shorter work has no line. If only the counting
// calls drew it, it would stop where most of the time goes: in one large module, or on a slow disk. The cursor returns
// to the line's beginning, so that the output of another process does not begin after our words. The remaining time is
// shown from the first tenth on; before that it would be a guess.
#include "cli/base/progress.h"

#include "cli/base/clock.h"
#include "cli/base/text.h"
#include "cli/base/units.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>

namespace heapprof::cli {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kQuietNs = kSecondNs / 2;
constexpr uint64_t kRedrawNs = kSecondNs / 10;
constexpr uint64_t kLogNs = 30 * kSecondNs;

// Not with stdio: its lock may be held when a child is forked.
void print(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(STDERR_FILENO, text.data() + at, text.size() - at);
    if (written <= 0) return;
    at += static_cast<size_t>(written);
  }
}

// A background job would be stopped for writing (stty tostop), or write into another job's screen.
bool is_foreground() { return tcgetpgrp(STDERR_FILENO) == getpgrp(); }

}  // namespace

std::string progress_line(const std::string& work, const std::string& unit, const ProgressState& state,
                          const Terminal& terminal) {
  constexpr uint64_t kBarColumns = 10;
  constexpr std::array<const char*, 8> kSigns = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"};
  constexpr std::array<const char*, 4> kPlainSigns = {"|", "/", "-", "\\"};
  std::string line = work;
  const uint64_t done = std::min(state.done, state.all);
  if (state.all != 0) {
    line += fmt::format("  {}  {} of {} {}", pad_left(format_percent_rounded({done, state.all}), 5), format_count(done),
                        format_count(state.all), unit);
    if (terminal.is_tty) {
      line += "  ";
      for (uint64_t i = 0; i < kBarColumns; ++i) line += i * state.all < done * kBarColumns ? "━" : "─";
    }
  }
  // Assumes that each remaining item takes as long as the finished ones. In the first tenth that would be a guess, so
  // nothing is shown.
  if (state.all != 0 && done * 10 >= state.all && done > 0 && done < state.all) {
    const uint64_t left_ns = state.elapsed_ns / done * (state.all - done);
    line += fmt::format("  {} s left", std::max<uint64_t>((left_ns + kSecondNs / 2) / kSecondNs, 1));
  } else if (state.all == 0 && state.elapsed_ns >= kSecondNs) {
    line += fmt::format("  {} s", state.elapsed_ns / kSecondNs);
  }
  if (terminal.is_tty) {
    const std::string sign =
        terminal.utf8 ? kSigns[state.step % kSigns.size()] : kPlainSigns[state.step % kPlainSigns.size()];
    return sign + " " +
           (terminal.utf8 ? shorten_middle(line, static_cast<size_t>(terminal.columns) - 3)
                          : to_ascii(shorten_middle(line, static_cast<size_t>(terminal.columns) - 3)));
  }
  line = shorten_middle(line, static_cast<size_t>(terminal.columns) - 1);
  return terminal.utf8 ? line : to_ascii(line);
}

Progress::Progress(ColorMode color, ProgressThread thread)
    : terminal_(inspect_terminal(STDERR_FILENO, color)), start_ns_(monotonic_ns()) {
  may_draw_ = terminal_.is_tty && is_foreground();
  next_ns_ = start_ns_ + (may_draw_ ? kQuietNs : kLogNs);
  if (!may_draw_ || thread == ProgressThread::kNone) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);  // other threads handle signals
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { draw_each_time(); });
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Progress::say(const std::string& work) {
  const std::lock_guard guard(mutex_);
  work_ = work;
  unit_.clear();
  done_ = all_ = 0;
  start_ns_ = monotonic_ns();
}

void Progress::update(uint64_t done, uint64_t all, const std::string& unit) {
  const std::lock_guard guard(mutex_);
  done_ = done;
  all_ = all;
  unit_ = unit;
  const uint64_t now_ns = monotonic_ns();
  if (thread_.joinable() || is_over_ || now_ns < next_ns_ || (terminal_.is_tty && !may_draw_)) return;
  if (may_draw_) {
    draw(now_ns);
    return;
  }
  print("heapprof: " + progress_line(work_, unit_, {done_, all_, now_ns - start_ns_, 0}, terminal_) + "\n");
  next_ns_ = now_ns + kLogNs;
}

void Progress::draw(uint64_t now_ns) {
  if (!work_.empty() && is_foreground()) {
    print("\r" + progress_line(work_, unit_, {done_, all_, now_ns - start_ns_, step_++}, terminal_) + "\x1b[K\r");
    is_drawn_ = true;
  }
  next_ns_ = now_ns + kRedrawNs;
}

void Progress::draw_each_time() {
  std::unique_lock guard(mutex_);
  while (!is_over_) {
    const uint64_t now_ns = monotonic_ns();
    if (now_ns >= next_ns_) {
      try {
        draw(now_ns);
      } catch (const std::exception&) {  // no memory for a line
        return;
      }
    } else {
      changed_.wait_for(guard, std::chrono::nanoseconds(next_ns_ - now_ns));
    }
  }
}

void Progress::erase() {
  if (is_drawn_) print("\r\x1b[K");
  is_drawn_ = false;
}

void Progress::clear() {
  const std::lock_guard guard(mutex_);
  erase();
  next_ns_ = std::max(next_ns_, monotonic_ns() + kRedrawNs);
}

void Progress::stop() {
  {
    const std::lock_guard guard(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  erase();
}

}  // namespace heapprof::cli
