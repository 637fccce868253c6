// tests/unit/base/progress_test.cc: the line that long work shows.
#include "cli/base/progress.h"

#include "cli/base/text.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {
Terminal terminal(bool is_tty, int columns = 80) {
  Terminal result;
  result.is_tty = is_tty;
  result.columns = columns;
  result.utf8 = true;
  return result;
}
constexpr uint64_t kSecondNs = 1'000'000'000;
}  // namespace

TEST_CASE("progress says what, how much, and how long it will take") {
  CHECK(progress_line("looking up names", "modules", {8, 13, 8 * kSecondNs, 0}, terminal(true)) ==
        "⠋ looking up names   62 %  8 of 13 modules  ━━━━━━━───  5 s left");
  CHECK(progress_line("looking up names", "modules", {8, 13, 8 * kSecondNs, 1}, terminal(false)) ==
        "looking up names   62 %  8 of 13 modules  5 s left");
  CHECK(progress_line("looking up names", "modules", {13, 13, kSecondNs, 1}, terminal(true)) ==
        "⠙ looking up names  100 %  13 of 13 modules  ━━━━━━━━━━");
  CHECK(progress_line("looking up names", "modules", {0, 13, kSecondNs, 8}, terminal(true)) ==
        "⠋ looking up names    0 %  0 of 13 modules  ──────────");
}

TEST_CASE("work that nobody counts says how long it has been done") {
  CHECK(progress_line("writing the profile", "", {0, 0, kSecondNs / 2, 2}, terminal(true)) == "⠹ writing the profile");
  CHECK(progress_line("writing the profile", "", {0, 0, 3 * kSecondNs, 3}, terminal(true)) ==
        "⠸ writing the profile  3 s");
  Terminal ascii = terminal(true);
  ascii.utf8 = false;
  CHECK(progress_line("writing the profile", "", {0, 0, 3 * kSecondNs, 3}, ascii) == "\\ writing the profile  3 s");
}

TEST_CASE("progress keeps to one line, whatever it is given") {
  for (const int columns : {40, 80}) {
    for (const uint64_t all : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      const std::string line = progress_line("looking up names of all that there is", "modules",
                                             {5'000'000, all, ~uint64_t{0}, ~uint64_t{0}}, terminal(true, columns));
      CHECK(display_width(line) < static_cast<size_t>(columns));
    }
  }
}
