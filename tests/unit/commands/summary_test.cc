// tests/unit/commands/summary_test.cc: the screen at exit, and that it keeps to its width whatever the program was called.
#include "cli/commands/summary.h"

#include "cli/base/text.h"
#include "tests/support/golden.h"
#include "tests/support/sample_profile.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

#include <sstream>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

Terminal terminal(int columns) {
  Terminal result;
  result.columns = columns;
  result.utf8 = true;
  return result;
}

std::string summary(const Profile& profile, int columns = 100) {
  return render_summary({profile, "heapprof.render.31337.json", 2'202'009}, terminal(columns));
}

void check_lines(const std::string& text, size_t columns) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(display_width(line) <= columns);
    CHECK((line.empty() || line.back() != ' '));
    CHECK(escape_controls(line) == line);
  }
}

}  // namespace

TEST_CASE("the summary of a run") {
  const Profile profile = scene_profile();
  check_golden("summary_scene_80.txt", summary(profile, 80));
  check_golden("summary_scene_120.txt", summary(profile, 120));
  Terminal ascii = terminal(100);
  ascii.utf8 = false;
  const std::string text = render_summary({profile, "heapprof.render.31337.json", 2'202'009}, ascii);
  check_golden("summary_scene_ascii.txt", text);
  for (const char c : text) CHECK(static_cast<unsigned char>(c) < 0x80);
}

TEST_CASE("the summary keeps to its width") {
  for (const int columns : {80, 100, 120, 200})
    check_lines(summary(scene_profile(), columns), static_cast<size_t>(columns));
}

TEST_CASE("hostile names reach the terminal harmless") {
  const Profile profile = assembled(hostile_sample());
  for (const int columns : {80, 120}) {
    const std::string text = summary(profile, columns);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK(escape_controls(line) == line);
  }
}

TEST_CASE("a killed program is said to be killed, and whether the profile is whole") {
  Profile profile = scene_profile();
  profile.run.end = {EndKind::kSignaled, 9};
  profile.run.duration_ns = 37'200'000'000;
  std::string text = summary(profile);
  CHECK(text.find("    killed by SIGKILL    37.2 s    pid 31337\n") != std::string::npos);
  CHECK(text.find("killed by SIGKILL at 37.2 s; the profile is complete up to there\n") != std::string::npos);
  profile.run.complete = false;
  profile.run.incomplete_reason = "events were lost";
  profile.run.counters.lost = 12;
  text = summary(profile);
  CHECK(text.find("killed by SIGKILL at 37.2 s; the profile is incomplete\n") != std::string::npos);
  CHECK(text.find("heapprof: warning: 12 events were lost of ") != std::string::npos);
  CHECK(text.find("12 events lost\n") != std::string::npos);
}

TEST_CASE("a program that allocates nothing has a summary without places") {
  Profile profile;
  profile.nodes.emplace_back();
  profile.devices.emplace_back();
  profile.devices[0].name = "host";
  profile.run.command = {"true"};
  profile.run.end = {EndKind::kExited, 0};
  const std::string text = render_summary({profile, "out file.json", 300}, terminal(100));
  CHECK(text.find("peak\n") == std::string::npos);
  CHECK(text.find("next   heapprof report 'out file.json'\n") != std::string::npos);
  check_golden("summary_nothing.txt", text);
}

TEST_CASE("children are counted and named") {
  const Profile profile = scene_profile();
  SavedProfile child;
  child.path = "heapprof.render.31337.31340.json";
  child.command = {"sh", "-c", "true"};
  child.pid = 31340;
  child.peak_bytes = 4096;
  const std::string text = render_summary({profile, "a.json", 100, {child, child}}, terminal(100));
  CHECK(text.find("pid 31337 + 2 children\n") != std::string::npos);
  CHECK(text.find("child  heapprof.render.31337.31340.json  peak 4.00 KiB  sh -c true\n") != std::string::npos);
}

TEST_CASE("colour is on words only when it is wanted") {
  Terminal colored = terminal(100);
  colored.colored = true;
  CHECK(render_summary({scene_profile(), "a.json", 1}, colored).find("\x1b[1m") != std::string::npos);
  CHECK(summary(scene_profile()).find('\x1b') == std::string::npos);
}
