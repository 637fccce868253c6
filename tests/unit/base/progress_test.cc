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

TEST_CASE("progress says how much, and how long it will take") {
  CHECK(progress_line("symbolizing", "modules", {8, 13, 8 * kSecondNs}, terminal(true)) ==
        "symbolizing   62 %  8 of 13 modules  ━━━━━━━───  5 s left");
  CHECK(progress_line("symbolizing", "modules", {8, 13, 8 * kSecondNs}, terminal(false)) ==
        "symbolizing   62 %  8 of 13 modules  5 s left");
  CHECK(progress_line("symbolizing", "modules", {13, 13, kSecondNs}, terminal(true)) ==
        "symbolizing  100 %  13 of 13 modules  ━━━━━━━━━━");
  CHECK(progress_line("symbolizing", "modules", {0, 13, kSecondNs}, terminal(true)) ==
        "symbolizing    0 %  0 of 13 modules  ──────────");
}

TEST_CASE("progress keeps to one line, whatever it is given") {
  for (const int columns : {40, 80}) {
    const std::string line =
        progress_line("symbolizing", "modules", {5'000'000, 0, ~uint64_t{0}}, terminal(true, columns));
    CHECK(display_width(line) < static_cast<size_t>(columns));
  }
}
