// cli/top/live_terminal.h: the terminal while a view uses it: alternate screen, unbuffered keys, no cursor.
//
// Guarantees
//  - Its state is restored, however we end: by leave(), by the destructor, and if neither runs (kill -9, an abort), by
//    a guard process that only waits for our end.
//  - Keys still send their signals: Ctrl-C, Ctrl-Z.
// Context:  one at a time; from enter() on, in the foreground.
// Cost:     the guard: a fork of us, a few pages.
#pragma once

#include "cli/base/fd.h"

#include <sys/types.h>
#include <termios.h>

#include <optional>
#include <string>
#include <string_view>

namespace heapprof::cli {

struct ScreenSize {
  int columns = 80;
  int lines = 24;

  bool operator==(const ScreenSize&) const = default;
};

class LiveTerminal {
 public:
  LiveTerminal() = default;
  ~LiveTerminal() { leave(); }
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;

  enum class Stops { kAllowed, kDisabled };  // by Ctrl-Z
  // False: standard input or output is not a terminal.
  bool enter(Stops stops);
  void leave();
  bool is_entered() const { return is_entered_; }
  static ScreenSize size();
  // False: the terminal is gone.
  static bool write(std::string_view bytes);
  // The keys typed since the last call, maybe none; nullopt: the terminal is gone.
  static std::optional<std::string> read();

 private:
  void start_guard();

  termios before_{};
  bool is_entered_ = false;
  UniqueFd guard_;  // the guard waits until it closes
  pid_t guard_pid_ = 0;
};

}  // namespace heapprof::cli
