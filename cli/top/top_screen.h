// cli/top/top_screen.h: what a watcher sees: a screen of lines, from the numbers alone.
//
//   heapprof top 31337  ./render scene.usd           running 18.0 s   every 1.00 s
//   host    1.81 GiB  peak 1.92 GiB  +12.4 MiB/s  412,000 allocs/s  ▂▃▄▅▅▆▇█▇▇
//         live       %      +10 s  allocs/s  place
//     1.21 GiB  66.9 %         ±0         0  build_index  src/index.cc:212
//
// Guarantees
//  - As many lines as the terminal has, none wider than it, whatever its size: what has no room is left out, numbers of
//    a row before its place, and sections before the table.
//  - Names are escaped: whatever a program calls its functions, a terminal is safe.
#pragma once

#include "cli/base/terminal.h"
#include "cli/model/top/top_board.h"
#include "cli/model/top/top_findings.h"
#include "cli/model/top/top_table.h"
#include "cli/top/live_terminal.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// What the watcher has chosen, and what it is told.
struct TopView {
  pid_t pid = 0;
  std::string command;  // as a shell would read it
  uint64_t interval_ns = 0;
  size_t device = 0;  // which of the board's
  TopSort sort = TopSort::kLive;
  std::string filter;
  size_t scroll = 0;
  bool is_typing = false;  // the filter
  bool is_frozen = false;
  bool shows_help = false;
  std::string message;  // in place of the keys
};

// scroll is brought within what there is.
std::vector<std::string> draw_top(const TopBoard& board, TopView* view, ScreenSize size, const Terminal& look);

// The same for who has no terminal: as many lines as there is to be said, with the 20 first places.
std::vector<std::string> top_report(const TopBoard& board, const TopView& view, const Terminal& look);

// One line for an interval.
std::string top_line(const TopBoard& board, const Terminal& look);

}  // namespace heapprof::cli
