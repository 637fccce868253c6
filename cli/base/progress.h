// cli/base/progress.h: one line on stderr for work that takes longer than half a second; gone when the work is done.
//
// Guarantees
//  - On a terminal the line is redrawn in place, at most ten times a second, and erased at the end.
//  - Elsewhere there is one line each 30 s, so that logs stay short and a long silence is explained.
// Context:  one thread.
#pragma once

#include "cli/base/terminal.h"

#include <cstdint>
#include <string>

namespace heapprof::cli {

struct ProgressState {
  uint64_t done = 0;
  uint64_t all = 0;
  uint64_t elapsed_ns = 0;
};

// "symbolizing   62 %  8 of 13 modules  ━━━━━━────  4 s left"
std::string progress_line(const std::string& work, const std::string& unit, const ProgressState& state,
                          const Terminal& terminal);

class Progress {
 public:
  // `work` is what is done, "symbolizing"; `unit` what is counted, "modules".
  Progress(std::string work, std::string unit, ColorMode color);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(uint64_t done, uint64_t all);

 private:
  std::string work_;
  std::string unit_;
  Terminal terminal_;
  uint64_t start_ns_ = 0;
  uint64_t next_ns_ = 0;
  bool is_drawn_ = false;
};

}  // namespace heapprof::cli
