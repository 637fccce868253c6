// tests/support/rendered.h: what the tests of text forms share: a terminal whose width and time zone are fixed, and
// looking at lines.
#pragma once

#include "cli/base/terminal.h"
#include "cli/base/text.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

namespace heapprof::test {

inline cli::Terminal terminal(int columns) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  cli::Terminal result;
  result.columns = columns;
  result.utf8 = true;
  return result;
}

inline std::vector<std::string> split(const std::string& text, char separator = '\n') {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// No line is longer than that, ends in a blank, or holds a control character.
inline void check_lines(const std::string& text, size_t columns) {
  for (const std::string& line : split(text)) {
    CAPTURE(line);
    CHECK(cli::display_width(line) <= columns);
    CHECK((line.empty() || line.back() != ' '));
    CHECK(cli::escape_controls(line) == line);
  }
}

}  // namespace heapprof::test
