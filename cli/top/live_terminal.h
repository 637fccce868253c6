// cli/top/live_terminal.h: puts the terminal into the state that a view needs: alternate screen, unbuffered keys, no
// cursor.
//
// Guarantees
//  - The terminal's state is always restored: by leave(), by the destructor, or, if neither runs (kill -9, an abort),
//    by a guard process that waits for our end.
//  - Keys such as Ctrl-C and Ctrl-Z still send their signals.
// Context:  one object at a time; enter() is called in the foreground.
// Cost:     the guard is a fork of this process, and copies a few pages.
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
  // The bytes typed since the last call, which may be none; nullopt: the terminal is gone.
  static std::optional<std::string> read();

 private:
  void start_guard();

  termios before_{};
  bool is_entered_ = false;
  UniqueFd guard_;  // the guard waits until this pipe is closed
  pid_t guard_pid_ = 0;
};

}  // namespace heapprof::cli
