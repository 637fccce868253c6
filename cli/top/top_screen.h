// cli/top/top_screen.h: lays out the lines that the user sees, from the board's numbers.
//
//   heapprof top 31337  ./render scene.usd           running 18.0 s   every 1.00 s
//   host    1.81 GiB  peak 1.92 GiB  +12.4 MiB/s  412,000 allocs/s  ▂▃▄▅▅▆▇█▇▇
//         live       %      +10 s  allocs/s  place
//     1.21 GiB  66.9 %         ±0         0  build_index  src/index.cc:212
//
// Guarantees
//  - There are as many lines as the terminal has, and no line is wider. If something does not fit, numbers of a row are
//    left out before its place, and sections before the table.
//  - Names are escaped, so a program's function names cannot send commands to the terminal.
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

// What the user has chosen, and a message to the user.
struct TopView {
  pid_t pid = 0;
  std::string command;  // quoted for a shell
  uint64_t interval_ns = 0;
  size_t device = 0;  // index into the board's devices
  TopSort sort = TopSort::kLive;
  std::string filter;
  size_t scroll = 0;
  bool is_typing = false;  // the user is typing the filter
  bool is_frozen = false;
  bool shows_help = false;
  std::string message;  // shown instead of the list of keys
};

// The lines of a screen. Limits view->device and view->scroll to existing devices and rows.
std::vector<std::string> draw_top(const TopBoard& board, TopView* view, ScreenSize size, const Terminal& look);

// The same for --once: as many lines as needed, with the first 20 places.
std::vector<std::string> top_report(const TopBoard& board, const TopView& view, const Terminal& look);

// One line for each interval, if output is no terminal.
std::string top_line(const TopBoard& board, const Terminal& look);

}  // namespace heapprof::cli
