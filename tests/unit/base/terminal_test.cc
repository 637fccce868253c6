// tests/unit/base/terminal_test.cc: who decides about width, colour and characters.
#include "cli/base/terminal.h"

#include <catch2/catch.hpp>

#include <map>

using namespace heapprof::cli;

namespace {
Terminal decide(bool is_tty, int tty_columns, std::map<std::string, std::string> variables,
                ColorMode mode = ColorMode::kAuto) {
  return decide_terminal(
      {is_tty, tty_columns,
       [&](const char* name) { return variables.count(name) == 0 ? nullptr : variables[name].c_str(); }},
      mode);
}
}  // namespace

TEST_CASE("the terminal's width comes first, then COLUMNS, then 100") {
  CHECK(decide(true, 120, {{"COLUMNS", "80"}}).columns == 120);
  CHECK(decide(true, 0, {{"COLUMNS", "80"}}).columns == 80);
  CHECK(decide(false, 120, {}).columns == 100);
  CHECK(decide(false, 0, {{"COLUMNS", "90"}}).columns == 90);
  for (const char* nonsense : {"", "wide", "-3", "0", "80x"})
    CHECK(decide(false, 0, {{"COLUMNS", nonsense}}).columns == 100);
  CHECK(decide(true, 5, {}).columns == 40);
  CHECK(decide(false, 0, {{"COLUMNS", "99999999999999999999"}}).columns == 1000);
}

TEST_CASE("lines are broken on a terminal, and where COLUMNS says how wide they are; a log keeps them") {
  CHECK(decide(true, 120, {}).is_fitted);
  CHECK(decide(true, 0, {}).is_fitted);
  CHECK(decide(false, 0, {{"COLUMNS", "60"}}).is_fitted);
  CHECK_FALSE(decide(false, 0, {}).is_fitted);
  for (const char* nonsense : {"", "wide", "-3", "0", "80x"})
    CHECK_FALSE(decide(false, 0, {{"COLUMNS", nonsense}}).is_fitted);
}

TEST_CASE("colour only where it is wanted") {
  CHECK(decide(true, 80, {{"TERM", "xterm"}}).colored);
  CHECK_FALSE(decide(false, 0, {{"TERM", "xterm"}}).colored);
  CHECK_FALSE(decide(true, 80, {{"TERM", "dumb"}}).colored);
  CHECK_FALSE(decide(true, 80, {}).colored);
  CHECK_FALSE(decide(true, 80, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}).colored);
  CHECK(decide(true, 80, {{"TERM", "xterm"}, {"NO_COLOR", ""}}).colored);
  CHECK(decide(false, 0, {{"NO_COLOR", "1"}}, ColorMode::kAlways).colored);
  CHECK_FALSE(decide(true, 80, {{"TERM", "xterm"}}, ColorMode::kNever).colored);
}

TEST_CASE("UTF-8 where the locale's variables say so") {
  CHECK(decide(false, 0, {{"LANG", "en_US.UTF-8"}}).utf8);
  CHECK(decide(false, 0, {{"LANG", "C.utf8"}}).utf8);
  CHECK_FALSE(decide(false, 0, {}).utf8);
  CHECK_FALSE(decide(false, 0, {{"LANG", "en_US.UTF-8"}, {"LC_ALL", "C"}}).utf8);
  CHECK(decide(false, 0, {{"LANG", "C"}, {"LC_CTYPE", "de_DE.UTF-8@euro"}}).utf8);
  CHECK(decide(false, 0, {{"LC_ALL", ""}, {"LANG", "C.UTF-8"}}).utf8);
}
