// tests/unit/write/held_text_test.cc: what drivers hold, in words.
#include "cli/write/report/report_sections.h"

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

TEST_CASE("what is in use is told apart from what was seen, what was estimated, and what nobody knows") {
  CHECK(use_line({}, {}, false).empty());
  DeviceUse use;
  use.missing = "no \x1b library";
  CHECK(use_line(use, {}, false) ==
        std::vector<std::string>{"in use by NVML's count: not known", "(no \\x1b library)"});
  use = {7, 400 << 20, 300 << 20, false, ""};
  CHECK(use_line(use, {}, false) == std::vector<std::string>{"in use by NVML's count: at most 400 MiB (sampled):",
                                                             "seen 300 MiB,", "unattributed ≈ 100 MiB"});
  use.missing = "no driver";  // in one of several
  CHECK(use_line(use, {}, false)[0] == "in use by NVML's count: at most 400 MiB (sampled, and not in every process):");
  use.missing.clear();
  UnseenMemory unseen;
  unseen.estimates.push_back({"modules", 0, 1, 30 << 20, 0});
  CHECK(use_line(use, unseen, false)[2] == "unattributed ≈ 100 MiB");
  CHECK(use_line(use, unseen, false)[3] == "(contexts and modules, over the run: ≈ 30.0 MiB)");
  unseen.estimates.push_back({"context", 0, 1, 80 << 20, 1});
  CHECK(use_line(use, unseen, false)[3] == "(contexts and modules, over the run: ≤ 110 MiB)");
  use.is_of_all = true;
  CHECK(use_line(use, {}, true) ==
        std::vector<std::string>{"in use by all processes by NVML's count: at most 419,430,400 B (sampled):",
                                 "seen 314,572,800 B,", "others' and unattributed ≤ 104,857,600 B"});
  use.seen_at_max_bytes = 500 << 20;  // freed since NVML counted
  CHECK(use_line(use, {}, false)[2] == "others' and unattributed ≤ 0 B");
}

}  // namespace
}  // namespace heapprof::cli
