// tests/unit/run/summary_test.cc: the screen at exit, and that it keeps to its width whatever the program was called.
#include "cli/run/summary.h"

#include "cli/base/text.h"
#include "cli/run/process_tree_text.h"
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
  check_golden("summary/scene_80.txt", summary(profile, 80));
  check_golden("summary/scene_120.txt", summary(profile, 120));
  Terminal ascii = terminal(100);
  ascii.utf8 = false;
  const std::string text = render_summary({profile, "heapprof.render.31337.json", 2'202'009}, ascii);
  check_golden("summary/scene_ascii.txt", text);
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
  check_golden("summary/nothing.txt", text);
}

TEST_CASE("the others are counted, shown below those that started them, and the largest one's profile is named") {
  const Profile profile = scene_profile();
  ProcessTree tree(31337);
  tree.set_profile(ProcessTree::kRoot, {5000, "a.json", {"make", "-j2"}});
  const uint32_t shell = tree.add(31340, 1, ProcessTree::kRoot);
  tree.set_profile(shell, {4096, "a.31340.json", {"sh", "-c", "true"}});
  const uint32_t left_out = tree.add(31341, 1, shell);
  tree.set_fate(left_out, Fate::kLeftOut);
  const uint32_t compiler = tree.add(31342, 1, left_out);
  tree.set_profile(compiler, {1 << 20, "a.31342.json", {"cc1"}});
  tree.set_profile(compiler, {100, "a.31342.exec1.json", {"sh"}});
  tree.add(31343, 1, shell);
  tree.set_running(shell);
  const std::string text = render_summary({profile, "a.json", 100, {}, &tree}, terminal(100));
  CHECK(text.find("pid 31337 + 2 children\n") != std::string::npos);
  CHECK(text.find("processes, by peak\n"
                  "  4.88 KiB  31337  make -j2\n"
                  "  4.00 KiB  31340    sh -c true\n"
                  "  1.00 MiB  31342      cc1\n"
                  "  + 1 that allocated nothing, 1 left out\n"
                  "  1 runs on: its profile ends here; to stay until it has ended: --wait\n") != std::string::npos);
  CHECK(text.find("also   a.31342.json  the largest of 2 others\n") != std::string::npos);
}

TEST_CASE("of thousands of processes the largest are shown, the rest is counted") {
  ProcessTree tree(100);
  tree.set_profile(ProcessTree::kRoot, {1, "a.json", {"make"}});
  for (int i = 1; i <= 2000; ++i) {
    const uint32_t entry = tree.add(100 + i, 1, i % 2 == 0 ? tree.find(99 + i) : ProcessTree::kRoot);
    tree.set_profile(entry, {static_cast<uint64_t>(i), "x", {"cc1", std::string(300, 'x')}});
  }
  const std::string text = tree_text(tree, 80);
  CHECK(std::count(text.begin(), text.end(), '\n') == kMostRows + 1);
  CHECK(text.find("  1.95 KiB  2100") != std::string::npos);
  CHECK(text.find("  + 1,993 smaller\n") != std::string::npos);
  check_lines(text, 80);
}

TEST_CASE("a number that comes back is another process") {
  ProcessTree tree(100);
  const uint32_t first = tree.add(101, 5, ProcessTree::kRoot);
  CHECK(tree.find(101, 5) == first);
  CHECK(tree.find(101, 6) == ProcessTree::kNone);
  const uint32_t second = tree.add(101, 6, ProcessTree::kRoot);
  CHECK(tree.find(101, 6) == second);
  CHECK(tree.find(101) == second);
}

TEST_CASE("devices of the processes are in the tree, and what they were refused comes first") {
  ProcessTree tree(100);
  tree.set_profile(ProcessTree::kRoot, {5000, "a.json", {"torchrun"}});
  const uint32_t small = tree.add(101, 1, ProcessTree::kRoot);
  const uint32_t large = tree.add(102, 1, ProcessTree::kRoot);
  const uint64_t mib = 1 << 20;
  tree.set_profile(small, {90 * mib, "a.101.json", {"worker", "0"}});
  tree.set_profile(large, {10,
                           "a.102.json",
                           {"worker", "1"},
                           {{"cuda:1", 700 * mib}, {"cuda:0", 600 * mib}, {"cuda:2", mib}},
                           {{"cuda:1", 3, 0, "a.102.json"}, {"cuda:0", 1, 1, "a.102.json"}}});
  tree.set_profile(large,
                   {20 * mib, "a.102.exec1.json", {"sh"}});  // its heap is larger, but not than the device's peak
  CHECK(largest_peak(tree.entries()[large]) == 700 * mib);
  const std::string rows = tree_text(tree, 100);
  CHECK(rows.find("cuda:1 700 MiB, cuda:0 600 MiB + 1  102    worker 1") != std::string::npos);
  const Profile profile = assembled(small_sample());
  const std::string text = render_summary({profile, "a.json", 1000, {}, &tree}, terminal(100));
  CHECK(text.find("cuda:1 ran out of memory in process 102, 3 times: a.102.json\n  worker 1\n") != std::string::npos);
  CHECK(text.find("cuda:0 came to its limit in process 102: a.102.json\n") != std::string::npos);
  CHECK(text.find("ran out of memory") < text.find("device  "));
  CHECK(text.find("also   a.102.json  the largest of 2 others") != std::string::npos);
}

TEST_CASE("colour is on words only when it is wanted") {
  Terminal colored = terminal(100);
  colored.colored = true;
  CHECK(render_summary({scene_profile(), "a.json", 1}, colored).find("\x1b[1m") != std::string::npos);
  CHECK(summary(scene_profile()).find('\x1b') == std::string::npos);
}
