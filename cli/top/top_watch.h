// cli/top/top_watch.h: watches a process until it ends, or the user has seen enough.
//
// Guarantees
//  - The terminal is given back on every way out (live_terminal.h).
//  - Whoever is watched is not waited for: where its heapprof does not answer, keys still do.
// Context:  one thread; from the start to the end it has the signals that a terminal sends.
// Cost:     a sample: 0.3 ms of a program with 500 places; names: once, and when there are new ones, no more than a
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
  // Where a snapshot of it goes, absolute.
  std::function<std::string(pid_t)> snapshot_path;
  bool is_of_run = false;  // started by the run itself: waits for the program's first allocation, ends without a word
};

// The exit code: 0, also where it ended; 128 + N if signal N ended us.
Result<int> watch_top(const TopOptions& options);

}  // namespace heapprof::cli
