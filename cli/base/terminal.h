// cli/base/terminal.h: what the output can show: width, colour, characters.
//
// Guarantees
//  - --color beats NO_COLOR, which beats the terminal; without a terminal there is no colour unless --color asks for
//    it.
//  - Characters beyond ASCII are used only if the locale's environment variables say UTF-8. No locale files are needed,
//    so that static builds work, too.
#pragma once

#include <functional>
#include <string>

namespace heapprof::cli {

enum class ColorMode { kAuto, kAlways, kNever };

struct Terminal {
  bool is_tty = false;
  int columns = 100;
  bool is_fitted = false;  // lines are broken at that width: on a terminal, or if COLUMNS is set; not in a log
  bool colored = false;
  bool utf8 = false;
};

// The input of the decision; tests set their own.
struct TerminalFacts {
  bool is_tty = false;
  int tty_columns = 0;                                           // 0: unknown
  std::function<const char*(const char* variable)> environment;  // as getenv
};

Terminal decide_terminal(const TerminalFacts& facts, ColorMode mode);
Terminal inspect_terminal(int fd, ColorMode mode);

}  // namespace heapprof::cli
