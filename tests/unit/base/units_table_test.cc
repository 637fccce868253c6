// tests/unit/base/units_table_test.cc: what numbers are written as, in a table that the page of report --html is held
// to, too (tests/integration/page/units.sh).
#include "cli/base/units.h"
#include "tests/support/golden.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace heapprof::cli;

namespace {

// Around every edge at which a digit, a decimal or a unit changes, up to what a double holds exactly.
std::vector<uint64_t> edges() {
  std::vector<uint64_t> values = {0, 1, 2, 9, 10, 17};
  const auto add_around = [&values](uint64_t edge) {
    for (const int64_t off : {-5, -1, 0, 1, 5}) {
      const uint64_t value = edge + static_cast<uint64_t>(off);
      if (value < uint64_t{1} << 53) values.push_back(value);
    }
  };
  for (uint64_t unit = 1000; unit < uint64_t{1} << 52; unit *= 1000) {
    for (const uint64_t times : {1, 10, 100}) add_around(unit * times);
    add_around(unit / 1000 * 999 + unit / 2000);
    add_around(unit * 9 + unit / 1000 * 995);
  }
  for (uint64_t unit = 1024; unit < uint64_t{1} << 52; unit *= 1024) {
    for (const uint64_t times : {1, 10, 100, 1000}) add_around(unit * times);
    add_around(unit / 1024 * 1023 + unit / 2048);
    add_around(unit * 9 + unit / 1000 * 995);
    add_around(unit * 99 + unit / 100 * 95);
  }
  for (const uint64_t seconds : {1, 9, 10, 59, 60, 99, 100, 599, 600, 3599, 3600, 86'400})
    add_around(seconds * 1'000'000'000);
  return values;
}

}  // namespace

TEST_CASE("numbers are written as the table says") {
  std::string table =
      "# tests/golden/units.txt: how cli/base/units.cc and cli/page/src/model/units.ts write numbers; "
      "scripts/regold.\n";
  const auto add = [&table](const std::string& call, const std::string& text) { table += call + " = " + text + "\n"; };
  for (const uint64_t value : edges()) {
    const std::string number = std::to_string(value);
    add("bytes " + number, format_bytes(value));
    add("bytesExact " + number, format_bytes_exact(value));
    add("count " + number, format_count(value));
    add("moment " + number, format_time(value));
    add("length " + number, format_duration(value));
  }
  const std::vector<uint64_t> parts = {0,   1,   2,   3,    49,   50,   51,   333,    499,
                                       500, 995, 999, 1000, 1001, 1005, 9999, 10'005, 123'456'789};
  for (const uint64_t part : parts) {
    for (const uint64_t whole : parts) {
      const std::string both = std::to_string(part) + " " + std::to_string(whole);
      if (part <= whole) add("percent " + both, format_percent({part, whole}));
      if (part <= whole) add("percentRounded " + both, format_percent_rounded({part, whole}));
      add("changePercent " + both, format_change_percent({part, whole}));
    }
  }
  heapprof::test::check_golden("units.txt", table);
}
