// cli/base/terminal.cc: decide_terminal() decides from given facts, and only inspect_terminal() collects them, so tests
// need no terminal.
#include "cli/base/terminal.h"

#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace heapprof::cli {
namespace {

constexpr int kDefaultColumns = 100;
constexpr int kMinColumns = 40;  // below this nothing readable remains: let the terminal wrap
constexpr int kMaxColumns = 1000;

int clamp_columns(long columns) {
  if (columns < kMinColumns) return kMinColumns;
  return columns > kMaxColumns ? kMaxColumns : static_cast<int>(columns);
}

bool is_set(const char* value) { return value != nullptr && value[0] != '\0'; }

// POSIX: the first of these that is set and not empty decides.
bool locale_is_utf8(const TerminalFacts& facts) {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = facts.environment(variable);
    if (!is_set(value)) continue;
    const char* codeset = std::strchr(value, '.');
    if (codeset == nullptr) return false;
    return strncasecmp(codeset + 1, "UTF-8", 5) == 0 || strncasecmp(codeset + 1, "UTF8", 4) == 0;
  }
  return false;
}

bool wants_color(const TerminalFacts& facts, ColorMode mode) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  if (is_set(facts.environment("NO_COLOR"))) return false;
  const char* term = facts.environment("TERM");
  return facts.is_tty && is_set(term) && std::strcmp(term, "dumb") != 0;
}

}  // namespace

Terminal decide_terminal(const TerminalFacts& facts, ColorMode mode) {
  Terminal terminal;
  terminal.is_tty = facts.is_tty;
  terminal.columns = kDefaultColumns;
  terminal.is_fitted = facts.is_tty;
  if (facts.is_tty && facts.tty_columns > 0) {
    terminal.columns = clamp_columns(facts.tty_columns);
  } else if (const char* columns = facts.environment("COLUMNS"); is_set(columns)) {
    char* end = nullptr;
    const long value = std::strtol(columns, &end, 10);
    if (*end == '\0' && value > 0) {
      terminal.columns = clamp_columns(value);
      terminal.is_fitted = true;
    }
  }
  terminal.colored = wants_color(facts, mode);
  terminal.utf8 = locale_is_utf8(facts);
  return terminal;
}

Terminal inspect_terminal(int fd, ColorMode mode) {
  TerminalFacts facts;
  facts.is_tty = ::isatty(fd) == 1;
  winsize size{};
  if (facts.is_tty && ::ioctl(fd, TIOCGWINSZ, &size) == 0) facts.tty_columns = size.ws_col;
  facts.environment = [](const char* variable) -> const char* { return std::getenv(variable); };
  return decide_terminal(facts, mode);
}

}  // namespace heapprof::cli
