// cli/base/progress.h: one line on stderr for work that takes longer than half a second; gone when the work is done.
//
// Guarantees
//  - On a terminal a separate thread redraws the line in place, ten times a second, so that it moves whatever the work
//    is doing. stop() and clear() erase the line before they return; after clear(), the next redraw shows it again.
//  - Nothing is written to a terminal that has another job in its foreground. If stderr is no terminal, one line is
//    written for each 30 s of counted work, so that logs stay short and a long silence is explained.
//  - Without a thread (not available, or not wanted) the line is drawn by the calls that count the work.
// Context:  all functions from one thread. A fork's child must not touch it.
#pragma once

#include "cli/base/terminal.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace heapprof::cli {

struct ProgressState {
  uint64_t done = 0;
  uint64_t all = 0;  // 0: nothing is counted
  uint64_t elapsed_ns = 0;
  uint64_t step = 0;  // of the spinner
};

// "⠹ looking up names   62 %  8 of 13 modules  ━━━━━━────  4 s left", "⠹ writing the profile  3 s"
std::string progress_line(const std::string& work, const std::string& unit, const ProgressState& state,
                          const Terminal& terminal);

enum class ProgressThread { kOwn, kNone };

class Progress {
 public:
  Progress(ColorMode color, ProgressThread thread);
  ~Progress() { stop(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(const std::string& work);                                  // the work from here on
  void update(uint64_t done, uint64_t all, const std::string& unit);  // how much of it is done, in which unit
  void clear();                                                       // so that something else can be printed
  void stop();                                                        // finally

 private:
  void draw_each_time();
  void draw(uint64_t now_ns);  // pre: mutex_ is held
  void erase();                // likewise

  const Terminal terminal_;
  bool may_draw_ = false;  // a terminal, and our job is in its foreground
  std::mutex mutex_;       // guards the members below
  std::condition_variable changed_;
  std::string work_;
  std::string unit_;
  uint64_t done_ = 0;
  uint64_t all_ = 0;
  uint64_t start_ns_ = 0;  // of this work
  uint64_t next_ns_ = 0;
  uint64_t step_ = 0;
  bool is_drawn_ = false;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace heapprof::cli
