// tests/unit/run/summary_leaks_test.cc: what the screen at exit says of live blocks that were judged (--leak-check).
#include "cli/base/text.h"
#include "cli/run/summary/summary.h"
#include "tests/support/golden.h"
#include "tests/support/judged_scene.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <sstream>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

void check_summary(const Profile& profile, int columns, const std::string& golden) {
  Terminal terminal;
  terminal.columns = columns;
  terminal.utf8 = true;
  const std::string text = render_summary({profile, "heapprof.render.31337.json", 2'202'009}, terminal);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(display_width(line) <= static_cast<size_t>(columns));
  }
  check_golden(fmt::format("summary/{}_{}.txt", golden, columns), text);
}

}  // namespace

TEST_CASE("what is lost at exit is told with its place, and why it was not judged") {
  Profile profile = judged_scene();
  for (const int columns : {40, 60, 80, 200}) check_summary(profile, columns, "judged");
  Terminal wide;
  wide.columns = 200;
  CHECK(render_summary({profile, "a.json", 1}, wide).find("could not be read") == std::string::npos);
  profile.run.leak_check.unread_bytes = 12'288;
  CHECK(render_summary({profile, "a.json", 1}, wide).find("; 12.0 KiB of its memory could not be read") !=
        std::string::npos);
  profile = scene_profile();
  profile.run.leak_check.is_asked = true;
  profile.run.leak_check.reason = "one of its threads cannot be stopped (ptrace: Operation not permitted)";
  for (const int columns : {40, 80}) check_summary(profile, columns, "not_judged");
}
