// cli/base/progress.cc: who waits wants to see that something moves, and a log wants no thousand lines.
//
// On a terminal one line is drawn over itself ten times a second, from half a second on: work that is done by then has
// no line at all. Elsewhere a line is printed every 30 s. Time left is said from the first tenth on; before that it
// would be a guess.
#include "cli/base/progress.h"

#include "cli/base/clock.h"
#include "cli/base/text.h"
#include "cli/base/units.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace heapprof::cli {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kQuietNs = kSecondNs / 2;
constexpr uint64_t kRedrawNs = kSecondNs / 10;
constexpr uint64_t kLogNs = 30 * kSecondNs;

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

std::string progress_line(const std::string& work, const std::string& unit, const ProgressState& state,
                          const Terminal& terminal) {
  constexpr uint64_t kBarColumns = 10;
  const uint64_t all = std::max<uint64_t>(state.all, 1);
  const uint64_t done = std::min(state.done, all);
  std::string line = fmt::format("{}  {}  {} of {} {}", work, pad_left(format_percent_rounded({done, all}), 5),
                                 format_count(done), format_count(all), unit);
  if (terminal.is_tty) {
    line += "  ";
    for (uint64_t i = 0; i < kBarColumns; ++i) line += i * all < done * kBarColumns ? "━" : "─";
  }
  // The rest takes as long for each as what is done did; too early to say for the first tenth.
  if (done * 10 >= all && done > 0 && done < all) {
    const uint64_t left_ns = state.elapsed_ns / done * (all - done);
    line += fmt::format("  {} s left", std::max<uint64_t>((left_ns + kSecondNs / 2) / kSecondNs, 1));
  }
  line = shorten_middle(line, static_cast<size_t>(terminal.columns) - 1);
  return terminal.utf8 ? line : to_ascii(line);
}

Progress::Progress(std::string work, std::string unit, ColorMode color)
    : work_(std::move(work)),
      unit_(std::move(unit)),
      terminal_(inspect_terminal(STDERR_FILENO, color)),
      start_ns_(monotonic_ns()) {
  next_ns_ = start_ns_ + (terminal_.is_tty ? kQuietNs : kLogNs);
}

Progress::~Progress() {
  if (is_drawn_) print("\r\x1b[K");
}

void Progress::update(uint64_t done, uint64_t all) {
  const uint64_t now = monotonic_ns();
  if (now < next_ns_) return;
  const std::string line = progress_line(work_, unit_, {done, all, now - start_ns_}, terminal_);
  if (terminal_.is_tty) {
    print("\r" + line + "\x1b[K");
    is_drawn_ = true;
    next_ns_ = now + kRedrawNs;
  } else {
    print("heapprof: " + line + "\n");
    next_ns_ = now + kLogNs;
  }
}

}  // namespace heapprof::cli
