// cli/top/live_terminal.h: the terminal while a view has it: the other screen, keys as they are pressed, no cursor.
//
// Guarantees
//  - It is given back as it was, whatever ends us: leave(), the destructor, and where neither comes to it (kill -9, an
//    abort) a process that waits for our end and does nothing else.
//  - Signals still come of the keys that make them: Ctrl-C, Ctrl-Z.
// Context:  one at a time; from enter() on, in the foreground.
// Cost:     that process: a fork of us, a few pages.
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
  // False: standard input or output is none.
  bool enter(Stops stops);
  void leave();
  bool is_entered() const { return is_entered_; }
  static ScreenSize size();
  // False: nobody sees it any more.
  static bool write(std::string_view bytes);
  // What was typed since; nothing: nobody can type any more. Empty: nothing was.
  static std::optional<std::string> read();

 private:
  void start_guard();

  termios before_{};
  bool is_entered_ = false;
  UniqueFd guard_;  // its end is what the guard waits for
  pid_t guard_pid_ = 0;
};

}  // namespace heapprof::cli
