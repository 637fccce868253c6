// tests/unit/write/held_text_test.cc: what drivers hold, in words.
#include "cli/write/held_text.h"

#include <catch2/catch.hpp>

namespace heapprof::cli {
namespace {

TEST_CASE("nothing held is nothing said") { CHECK(held_lines({}, false).empty()); }

TEST_CASE("pools and graphs have a line each") {
  HeldMemory held;
  held.pools_peak_bytes = 64 << 20;
  held.pools_used_peak_bytes = 40 << 20;
  held.pools_idle_peak_bytes = 30 << 20;
  held.pools_bytes = 2 << 20;
  held.graphs_peak_bytes = 10 << 20;
  const auto lines = held_lines(held, false);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == std::vector<std::string>{"the driver held up to 64.0 MiB for pools,",
                                             "of which up to 40.0 MiB was in use;", "up to 30.0 MiB was beyond use;",
                                             "2.00 MiB at the end"});
  CHECK(lines[1][0] == "the driver held up to 10.0 MiB for graphs,");
  held.is_partial = true;
  CHECK(held_lines(held, false)[0][0] == "the driver held at least 64.0 MiB for pools,");
  CHECK(held_lines(held, true)[1][2] == "0 B at the end");
}

}  // namespace
}  // namespace heapprof::cli
