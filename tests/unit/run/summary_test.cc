// tests/unit/run/summary_test.cc: the screen at exit, and that it keeps to its width whatever the program was called.
#include "cli/run/summary/summary.h"

#include "cli/base/text.h"
#include "cli/run/process_tree_text.h"
#include "tests/support/folded_scene.h"
#include "tests/support/golden.h"
#include "tests/support/sample_profile.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
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

TEST_CASE("the summary says which functions handed their rows to their callers") {
  const Profile profile = folded_scene();
  for (const int columns : {40, 60, 80, 200}) {
    check_golden(fmt::format("summary/folded_{}.txt", columns), summary(profile, columns));
    check_lines(summary(profile, columns), static_cast<size_t>(columns));
  }
  FoldRules undone;
  undone.all_frames = true;
  const std::string text = summary(folded_scene(undone), 80);
  CHECK(text.find("folded") == std::string::npos);
  CHECK(text.find("zmalloc") != std::string::npos);
}

TEST_CASE("the summary of a run") {
  const Profile profile = scene_profile();
  for (const int columns : {40, 60, 80, 120, 200})
    check_golden(fmt::format("summary/scene_{}.txt", columns), summary(profile, columns));
  Terminal ascii = terminal(100);
  ascii.utf8 = false;
  const std::string text = render_summary({profile, "heapprof.render.31337.json", 2'202'009}, ascii);
  check_golden("summary/scene_ascii.txt", text);
  for (const char c : text) CHECK(static_cast<unsigned char>(c) < 0x80);
}

TEST_CASE("the summary keeps to its width") {
  for (const int columns : {40, 60, 80, 100, 120, 200})
    check_lines(summary(scene_profile(), columns), static_cast<size_t>(columns));
}

namespace {

// One site a device.
Profile devices_of(const std::vector<std::pair<std::string, uint64_t>>& peaks) {
  ScenePlan plan;
  for (const auto& [name, bytes] : peaks) {
    plan.add_device(name);
    SizedNumbers n;
    n.total_bytes = n.peak_bytes = bytes;
    n.total_blocks = n.peak_blocks = 1;
    plan.add_site({{"take_" + name, "/home/me/src/a.cc", 7}, {"main", "/home/me/src/a.cc", 9}}, n);
    plan.add_timeline(kSecondNs);
  }
  return plan.take();
}

}  // namespace

TEST_CASE("small devices share a line, and addresses without memory are named only") {
  const Profile profile = devices_of({{"host", 3 * kMiB},
                                      {"mapped", 900 * kMiB},
                                      {"mapped:file", 8 * kMiB},
                                      {"pinned", 10 * kMiB},
                                      {"mapped:reserved", 64 * 1024 * kMiB}});
  const std::string text = summary(profile, 80);
  CHECK(text.find("\nbelow 1 %: mapped:file 8.00 MiB; no memory, addresses only: mapped:reserved\n"
                  "  (heapprof report --device NAME)\n") != std::string::npos);
  CHECK(text.find("\nhost     3.00 MiB") != std::string::npos);  // the heap has its row, however small
  CHECK(text.find("\npinned   10.0 MiB") != std::string::npos);
  CHECK(text.find("at the mapped:file peak") == std::string::npos);
  CHECK(text.find("take_mapped:file") == std::string::npos);
  CHECK(text.find("take_mapped:reserved") == std::string::npos);
  CHECK(text.find("0 … 64.0 GiB") == std::string::npos);
  Profile full = profile;
  Refusal refusal;
  refusal.count = 1;
  refusal.size_bytes = 1 << 20;
  full.devices[2].refusals.push_back(refusal);
  CHECK(summary(full, 80).find("\nmapped:file  ") != std::string::npos);
  CHECK(summary(devices_of({{"host", 100}, {"mapped", 1}}), 80).find("below") == std::string::npos);
}

TEST_CASE("temporary blocks have a row where they are the story") {
  const auto text_of = [](uint64_t temporary, uint64_t others, uint64_t each_bytes = 0) {
    ScenePlan plan;
    plan.add_device("host");
    SizedNumbers n;
    n.total_bytes = temporary * 48, n.total_blocks = n.temporary_blocks = temporary;
    n.smallest_bytes = n.largest_bytes = each_bytes;
    plan.add_site({{"make_key", "/home/me/src/key.cc", 11}, {"main", "/home/me/src/a.cc", 9}}, n);
    n = {};
    n.total_bytes = n.peak_bytes = others * 100, n.total_blocks = n.peak_blocks = others;
    plan.add_site({{"load", "/home/me/src/load.cc", 5}, {"main", "/home/me/src/a.cc", 10}}, n);
    return summary(plan.take(), 100);
  };
  const std::string text = text_of(1'800'000, 200'000);
  // Those that were freed at once are some of the place's blocks: their mean is not known, their bounds are.
  CHECK(text.find("\ntemporary  1.80 M of 2.00 M allocations were freed at once; of these:\n"
                  "    1.80 M  100 %  make_key  key.cc:11   of 1.80 M, 24 B to 96 B\n") != std::string::npos);
  CHECK(text_of(1'800'000, 200'000, 48).find("   of 1.80 M, 48 B each\n") != std::string::npos);
  CHECK(text_of(100'000, 1).find("freed at once") != std::string::npos);
  CHECK(text_of(99'999, 1).find("freed at once") == std::string::npos);
  CHECK(text_of(200'000, 1'000'000).find("freed at once") == std::string::npos);
}

TEST_CASE("what is live has the word of the end") {
  Profile profile = scene_profile();
  const auto says = [&](EndKind kind, const std::string& word) {
    profile.run.end = {kind, kind == EndKind::kSignaled ? 9 : 0};
    const std::string text = summary(profile, 80);
    CHECK(text.find("  " + word + "  ") != std::string::npos);
    CHECK(text.find("\n" + word + " on host\n") != std::string::npos);
    CHECK(text.find("leaked") == std::string::npos);
    check_lines(text, 80);
  };
  says(EndKind::kExited, "live at exit");
  says(EndKind::kSignaled, "live when killed");
  says(EndKind::kRunning, "live now");
  says(EndKind::kDetached, "live when left");
  says(EndKind::kExec, "live at exec");
  says(EndKind::kUnknown, "live at the end");
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

TEST_CASE("the others are counted, shown by peak with who started them, and the largest one's profile is named") {
  const Profile profile = scene_profile();
  ProcessTree tree(31337);
  tree.set_profile(ProcessTree::kRoot, {5000, "a.json", {"make", "-j2"}});
  const uint32_t shell = tree.add(31340, 1, ProcessTree::kRoot);
  tree.set_profile(shell, {4096, "a.31340.json", {"sh", "-c", "true"}});
  const uint32_t left_out = tree.add(31341, 1, shell);
  tree.set_fate(left_out, Fate::kLeftOut);
  const uint32_t compiler = tree.add(31342, 1, left_out);
  tree.set_profile(compiler, {1 << 20, "a.31342.json", {"cc1"}, {}, {}, 3 << 20});
  tree.set_profile(compiler, {100, "a.31342.exec1.json", {"sh"}});
  tree.add(31343, 1, shell);
  const uint32_t unwritten = tree.add(31344, 1, ProcessTree::kRoot);
  tree.set_profile(unwritten, {2 << 20, "", {"ld"}});
  tree.set_running(shell);
  const std::string text = render_summary({profile, "a.json", 100, {}, &tree}, terminal(100));
  CHECK(text.find("pid 31337 + 3 children\n") != std::string::npos);
  CHECK(text.find("processes, by peak of heap + mapped; beside it the most resident\n"
                  "  2.00 MiB            31344          ld  (not saved)\n"
                  "  1.00 MiB  3.00 MiB  31342 ← 31341  cc1\n"
                  "  4.88 KiB            31337          make -j2  (started)\n"
                  "  4.00 KiB            31340          sh -c true\n"
                  "  + 1 that allocated nothing, 1 left out\n"
                  "  1 runs on: its profile ends here; to stay until it has ended: --wait\n") != std::string::npos);
  CHECK(text.find("also   a.31342.json  the largest of 2 others\n") != std::string::npos);
  CHECK(tree_text(tree, 60).find("  1.00 MiB  31342  cc1\n") != std::string::npos);
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
  CHECK(text.find("  1.95 KiB  2100") == 0);
  CHECK(text.find("  100          make  (started)\n") != std::string::npos);
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
  CHECK(rows.find("cuda:1 700 MiB, cuda:0 600 MiB + 1  102  worker 1") != std::string::npos);
  const Profile profile = assembled(small_sample());
  const std::string text = render_summary({profile, "a.json", 1000, {}, &tree}, terminal(100));
  CHECK(text.find("cuda:1 ran out of memory in process 102, 3 times: a.102.json\n  worker 1\n") != std::string::npos);
  CHECK(text.find("cuda:0 came to its limit in process 102: a.102.json\n") != std::string::npos);
  CHECK(text.find("ran out of memory") < text.find("device  "));
  CHECK(text.find("also   a.102.json  the largest of 2 others") != std::string::npos);
}

namespace {

SavedProfile saved_as(uint32_t entry, uint64_t pid, uint64_t peak_bytes, const std::string& path,
                      std::vector<std::string> command) {
  SavedProfile saved;
  saved.entry = entry;
  saved.pid = pid;
  saved.peak_bytes = peak_bytes;
  saved.path = path;
  saved.command = std::move(command);
  return saved;
}

const SavedProfile kShell =
    saved_as(ProcessTree::kRoot, 4711, 1690, "heapprof.sh.4711.json", {"sh", "-c", "sort big.txt | uniq -c"});

}  // namespace

TEST_CASE("the headline is the largest, in whatever order they ended") {
  std::vector<SavedProfile> others = {saved_as(1, 4712, 996 << 20, "s.json", {"sort"}),
                                      saved_as(2, 4713, 70'000, "u.json", {"uniq"}),
                                      saved_as(3, 4714, 996 << 20, "t.json", {"sort"})};
  for (int order = 0; order < 6; ++order) {
    const Headline headline = choose_headline(kShell, others);
    REQUIRE(headline.other.has_value());
    CHECK(headline.other->pid == 4712);
    CHECK(headline.processes == 4);
    CHECK(headline.is_largest);
    CHECK_FALSE(headline.is_image);
    std::next_permutation(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  }
  CHECK_FALSE(choose_headline(kShell, {}).other.has_value());
  SavedProfile equal = kShell;
  equal.entry = 1;
  CHECK_FALSE(choose_headline(kShell, {equal}).other.has_value());
  equal.devices = {{"cuda:0", 1 << 20}};
  CHECK(choose_headline(kShell, {equal}).other.has_value());
}

TEST_CASE("the largest is found beyond the tree's bound, and a larger one that was not written is said") {
  std::vector<SavedProfile> others;
  for (uint32_t i = 0; i < 1000; ++i)
    others.push_back(saved_as(ProcessTree::kNone, 5000 + i, 3000 + i, "x.json", {"cc1"}));
  Headline headline = choose_headline(kShell, others);
  REQUIRE(headline.other.has_value());
  CHECK(headline.other->pid == 5999);
  CHECK(headline.processes == 1001);
  others.push_back(saved_as(7, 4715, 1 << 30, "", {"ld"}));
  headline = choose_headline(kShell, others);
  CHECK(headline.other->pid == 5999);
  CHECK_FALSE(headline.is_largest);
  CHECK(headline_text(headline, kShell, 200)
            .find("the largest that could be written of 1,002 processes: cc1, pid 5999;") == 0);
}

TEST_CASE("of a program's images the one that it left is named as such") {
  const std::vector<SavedProfile> others = {saved_as(ProcessTree::kRoot, 4711, 9000, "r.exec1.json", {"./stage1", "x"}),
                                            saved_as(ProcessTree::kRoot, 4711, 800, "r.exec2.json", {"./stage2"})};
  const Headline headline = choose_headline(kShell, others);
  CHECK(headline.is_image);
  CHECK(headline_text(headline, kShell, 200) ==
        "the largest of 3 programs that process 4711 was: ./stage1 x; the last, sh, peaked at 1.65 KiB: "
        "heapprof.sh.4711.json\n");
}

TEST_CASE("the screen is about the largest process; how the run ended is the started program's") {
  Profile shell;
  shell.nodes.emplace_back();
  shell.devices.emplace_back();
  shell.devices[0].name = "host";
  shell.run.command = kShell.command;
  shell.run.pid = 4711;
  shell.run.end = {EndKind::kSignaled, 9};
  shell.run.duration_ns = 37'200'000'000;
  const Profile render = scene_profile();
  SavedProfile largest = saved_as(1, 31337, 2'000'000'000, "heapprof.sh.4711.31337.json", render.run.command);
  largest.size_bytes = 2'202'009;
  ProcessTree tree(4711);
  tree.set_profile(ProcessTree::kRoot, {kShell.peak_bytes, kShell.path, kShell.command, {}, {}, 3 << 20});
  const uint32_t child = tree.add(31337, 1, ProcessTree::kRoot);
  tree.set_profile(child, {largest.peak_bytes, largest.path, largest.command, {}, {}, 2'264'924'160});
  const Headline headline = choose_headline(kShell, {largest});
  SummaryInput input{shell, kShell.path, 12'288, {}, &tree, &headline, &render, &kShell};
  for (const int columns : {40, 60, 80, 200})
    check_golden(fmt::format("summary/other_{}.txt", columns), render_summary(input, terminal(columns)));
  for (const int columns : {40, 60, 80, 200})
    check_lines(render_summary(input, terminal(columns)), static_cast<size_t>(columns));
  Terminal ascii = terminal(80);
  ascii.utf8 = false;
  for (const char c : render_summary(input, ascii)) CHECK(static_cast<unsigned char>(c) < 0x80);
  for (const int columns : {40, 60, 80, 200})
    check_lines(headline_text(headline, kShell, static_cast<size_t>(columns)), static_cast<size_t>(columns));
}

TEST_CASE("the started program's profile keeps the largest of the others, and counts the rest") {
  std::vector<SavedProfile> others;
  for (uint32_t i = 1; i <= 300; ++i) {
    others.push_back(saved_as(i, 5000 + i, i * 1000, fmt::format("out/r.{}.json", 5000 + i),
                              {"cc1", std::string(600, 'x'), std::string(600, 'y')}));
  }
  others[199].path = "";
  others[199].peak_bytes = 1'000'000;
  RunInfo run;
  keep_processes(others, "out/r.json", &run);
  REQUIRE(run.processes.size() == kMostKept);
  CHECK(run.other_processes_count == 200);
  CHECK(run.processes[0].pid == 5200);
  CHECK(run.processes[0].file.empty());
  CHECK(run.processes[1].file == "r.5300.json");
  CHECK(run.processes[1].command == std::vector<std::string>{"cc1", std::string(600, 'x'), "…"});
  RunInfo here;
  keep_processes({saved_as(1, 1, 1, "r.1.json", {"a"})}, "r.json", &here);
  CHECK(here.processes[0].file == "r.1.json");
}

TEST_CASE("colour is on words only when it is wanted") {
  Terminal colored = terminal(100);
  colored.colored = true;
  CHECK(render_summary({scene_profile(), "a.json", 1}, colored).find("\x1b[1m") != std::string::npos);
  CHECK(summary(scene_profile()).find('\x1b') == std::string::npos);
}
