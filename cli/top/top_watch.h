// cli/top/top_watch.h: watches a process until it ends, or the user quits.
//
// Guarantees
//  - The terminal is restored on every way out (live_terminal.h).
//  - The view never waits for the watched process: if its heapprof does not answer, keys still work.
// Context:  one thread; from start to end it handles the signals that a terminal sends.
// Cost:     a sample: 0.3 ms for a program with 500 places; names: once, and when there are new ones, at most a
//           twentieth of the time.
#pragma once

#include "cli/base/result.h"
#include "cli/base/terminal.h"
#include "cli/model/top/top_table.h"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace heapprof::cli {

enum class TopFormat { kText, kJson };

struct TopOptions {
  pid_t pid = 0;  // of a profiled process, or of the heapprof that runs it
  uint64_t interval_ns = 1'000'000'000;
  bool is_once = false;
  TopFormat format = TopFormat::kText;
  TopSort sort = TopSort::kLive;
  ColorMode color = ColorMode::kAuto;
  // The absolute path for a snapshot of it.
  std::function<std::string(pid_t)> snapshot_path;
  bool is_of_run = false;  // started by the run itself: waits for the program's first allocation, ends silently
};

// The exit code: 0, also if the process ended; 128 + N if signal N ended us.
Result<int> watch_top(const TopOptions& options);

}  // namespace heapprof::cli
