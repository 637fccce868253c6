// tests/unit/commands/diff_test.cc: the formats of a diff: golden texts, widths, and the same changes in every format.
#include "cli/base/text.h"
#include "cli/commands/commands.h"
#include "cli/read/read_profile.h"
#include "cli/write/diff/formats.h"
#include "tests/support/data_path.h"
#include "tests/support/golden.h"
#include "tests/support/rendered.h"
#include "tests/support/sample_profile.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

// The scene as it was before: a smaller index, no leak, a table that is gone now, and one device less.
Profile scene_before() {
  Profile profile = scene_profile();
  profile.devices.pop_back();
  Device& host = profile.devices[0];
  for (Site& site : host.sites) {
    if (site.node == 0) continue;
    Frame& frame = profile.frames[profile.nodes[site.node].frame];
    if (frame.function == "leak_cache") frame.function = "old_table", frame.line = 180, site.numbers.leaked_bytes = 0;
    if (frame.function.find("push_back") != std::string::npos) site.numbers.peak_bytes -= 210 * kMiB;
  }
  for (Frame& frame : profile.frames) frame.line += 7;
  host.totals.peak_bytes -= 210 * kMiB;
  return profile;
}

struct Pair {
  Profile base;
  Profile current;
  TwoProfiles two;

  Pair(Profile before, Profile after, size_t base_runs = 1) : base(std::move(before)), current(std::move(after)) {
    for (size_t i = 0; i < base_runs; ++i) {
      two.runs[kBase].push_back(sum_run(base, "base.json"));
      if (i > 0) two.runs[kBase].back().devices[0].second.peak_bytes += i * 1'000'000;
    }
    if (base_runs == 3) std::swap(two.runs[kBase][0], two.runs[kBase][1]);
    two.runs[kCurrent] = {sum_run(current, "heapprof.31337.json")};
    two.profiles = {&base, &current};
    two.diff = diff_profiles(base, current);
  }
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the resident set is shown below a device's totals, and never counts as growth") {
  Profile before = scene_profile();
  before.devices[0].totals.resident_max_bytes = 900 * kMiB;
  before.devices[0].fragmentation = {
      .seen_ns = 1, .resident_bytes = 100 * kMiB, .empty_bytes = 50 * kMiB, .sparse_bytes = 10 * kMiB};
  Profile after = scene_profile();
  after.devices[0].totals.resident_max_bytes = 1800 * kMiB;
  after.devices[0].fragmentation = {.seen_ns = 1, .resident_bytes = 100 * kMiB, .empty_bytes = 7 * kMiB};
  after.devices[0].untouched = {.seen_ns = 1, .untouched_bytes = 200 * kMiB, .bytes = 400 * kMiB};
  const Pair pair(before, after);
  const DiffView view;
  CHECK_FALSE(grew(pair.two, view));

  const std::string text = render_diff_text(pair.two, view, terminal(100));
  CHECK(contains(text, "resident at most    900 MiB   1.76 GiB"));
  CHECK(contains(text, "resident, unused   60.0 MiB          -\n"));
  CHECK(contains(text, "not touched               -    200 MiB\n"));
  const std::string narrow = render_diff_text(pair.two, view, terminal(40));
  CHECK(contains(narrow, "host resident, unused  60.0 MiB → -"));
  CHECK(contains(render_diff_markdown(pair.two, view, terminal(80)), "| `host` | not touched | - | 200 MiB |  |  | |"));
  const std::string csv = render_diff_csv(pair.two, view, terminal(80));
  CHECK(contains(csv, "host,rss_max_bytes,,,,,943718400,1887436800,943718400,100.00,,,,,,\n"));
  CHECK(contains(csv, "host,unused_resident_bytes,,,,,62914560,,,,,,,,,\n"));
  CHECK(contains(render_diff_json(pair.two, view, terminal(80)), "\"unused_resident_bytes\":{\"base\":62914560}"));
  CHECK(contains(render_diff_json(pair.two, view, terminal(80)), "\"untouched_bytes\":{\"current\":209715200}"));
}

TEST_CASE("the diff of a scene") {
  const Pair pair(scene_before(), scene_profile());
  const DiffView view;
  for (const int columns : {40, 60, 80, 120, 200})
    check_golden("diff/scene_" + std::to_string(columns) + ".txt", render_diff_text(pair.two, view, terminal(columns)));
  check_golden("diff/scene.md", render_diff_markdown(pair.two, view, terminal(80)));
  check_golden("diff/scene.json", render_diff_json(pair.two, view, terminal(80)));
  check_golden("diff/scene.csv", render_diff_csv(pair.two, view, terminal(80)));
  DiffView total;
  total.sort = Metric::kTotal;
  total.all = true;
  total.exact_bytes = true;
  total.device = "host";
  check_golden("diff/scene_total.txt", render_diff_text(pair.two, total, terminal(100)));
  Terminal ascii = terminal(100);
  ascii.utf8 = false;
  check_golden("diff/scene_ascii.txt", render_diff_text(pair.two, view, ascii));
}

TEST_CASE("no line of a diff is wider than the terminal, and none holds a control character") {
  for (const Profile& base : {scene_before(), assembled(hostile_sample())}) {
    for (const Profile& current : {scene_profile(), assembled(hostile_sample())}) {
      const Pair pair(base, current);
      for (const int columns : {80, 100, 200}) {
        for (const std::string& line : split(render_diff_text(pair.two, {}, terminal(columns)))) {
          CAPTURE(line);
          // Sentences are not cut: they are for reading, and wrap.
          const bool is_sentence = line.ends_with(".");
          CHECK((is_sentence || display_width(line) <= static_cast<size_t>(columns)));
          CHECK(escape_controls(line) == line);
          CHECK((line.empty() || line.back() != ' '));
        }
      }
      for (const std::string& line : split(render_diff_markdown(pair.two, {}, terminal(80))))
        CHECK(escape_controls(line) == line);
    }
  }
}

TEST_CASE("a profile against itself has no change in any form") {
  const Pair pair(scene_profile(), scene_profile());
  CHECK(contains(render_diff_text(pair.two, {}, terminal(80)),
                 "\nno change: nothing differs by more than 1 % or 4.00 KiB.\n"));
  CHECK(render_diff_markdown(pair.two, {}, terminal(80)).starts_with("**no change: "));
  CHECK(contains(render_diff_json(pair.two, {}, terminal(80)), "\"grew\":false"));
  CHECK(split(render_diff_csv(pair.two, {}, terminal(80))).size() == 1 + 2 * kMetrics.size());
  CHECK_FALSE(grew(pair.two, {}));
}

TEST_CASE("places that changed while no total did are in the conclusion") {
  Profile renamed = scene_profile();
  for (Frame& frame : renamed.frames) {
    if (frame.function == "leak_cache") frame.function = "fill_cache";
  }
  const Pair pair(scene_profile(), std::move(renamed));
  const std::string text = render_diff_text(pair.two, {}, terminal(100));
  CHECK_FALSE(contains(text, "no change"));
  CHECK(contains(text, "\nno total differs by more than 1 % or 4.00 KiB, but 2 places (host peak) do.\n"));
  CHECK(
      contains(render_diff_markdown(pair.two, {}, terminal(80)), "**no total differs by more than 1 % or 4.00 KiB, "));
  CHECK(contains(render_diff_json(pair.two, {}, terminal(80)), "but 2 places (host peak) do."));
  CHECK_FALSE(grew(pair.two, {}));
}

TEST_CASE("what grew decides the exit code: peak, leaked, allocations, or the metric of --sort") {
  DiffView view;
  CHECK(grew(Pair(scene_before(), scene_profile()).two, view));
  CHECK_FALSE(grew(Pair(scene_profile(), scene_before()).two, view));
  view.sort = Metric::kTemporary;
  view.device = "host";
  CHECK_FALSE(grew(Pair(scene_before(), scene_profile()).two, view));
  view.sort = Metric::kPeak;
  CHECK(grew(Pair(scene_before(), scene_profile()).two, view));
  view.tolerance.share = {50, 100};
  CHECK_FALSE(grew(Pair(scene_before(), scene_profile()).two, view));
}

TEST_CASE("several base runs give the noise, and what lies within it is no change") {
  Profile base = scene_profile();
  Profile current = scene_profile();
  current.devices[0].sites[0].numbers.peak_bytes += 900'000;
  DiffView view;
  view.tolerance.share = {0, 100};
  CHECK(grew(Pair(base, current, 1).two, view));
  const Pair noisy(base, current, 3);
  CHECK(median_run(noisy.two.runs[kBase]) == 0);
  CHECK_FALSE(grew(noisy.two, view));
  const std::string text = render_diff_text(noisy.two, view, terminal(100));
  CHECK(contains(text, "median of 3 runs"));
  CHECK(contains(text, "Runs differ by ±0.1 % (3 base runs) in host peak."));
}

TEST_CASE("folders are a table by command, with percent and factor") {
  TwoSets sets;
  sets.folders = {"before", "after"};
  const auto run = [](const std::string& name, uint64_t peak_bytes, uint64_t blocks) {
    RunTotals totals;
    totals.file = name + ".json";
    totals.command = {"./" + name, "--frames", "10"};
    PlaceNumbers numbers;
    numbers.peak_bytes = peak_bytes;
    numbers.total_blocks = blocks;
    totals.devices = {{"host", numbers}};
    return totals;
  };
  sets.runs[kBase] = {run("render", kMiB, 348'000), run("sort", 10 * kMiB, 7), run("gone", 1, 1)};
  sets.runs[kCurrent] = {run("render", 348 * kMiB, 1'000), run("sort", 5 * kMiB, 7)};
  sets.pairing = pair_runs(sets.runs[kBase], sets.runs[kCurrent]);
  DiffView view;
  check_golden("diff/sets.txt", render_sets_text(sets, view, terminal(100)));
  check_golden("diff/sets.md", render_sets_markdown(sets, view, terminal(100)));
  check_golden("diff/sets.json", render_sets_json(sets, view, terminal(100)));
  check_golden("diff/sets.csv", render_sets_csv(sets, view, terminal(100)));
  for (const std::string& line : split(render_sets_text(sets, view, terminal(80)))) CHECK(display_width(line) <= 80);
  view.sort = Metric::kAllocations;
  CHECK(contains(render_sets_text(sets, view, terminal(100)), "1/348×"));
  CHECK_FALSE(grew(sets, view));
  view.sort = Metric::kPeak;
  CHECK(grew(sets, view));
}

TEST_CASE("profiles of other tools are compared by the metrics that both have") {
  const auto golden = [](const std::string& name) {
    Result<Profile> profile = read_profile(heapprof::test::data_path("/golden/") + name);
    REQUIRE(profile.ok());
    return std::move(*profile);
  };
  const Pair foreign(golden("foreign/valgrind_heap.json"), golden("foreign/dhat_rs.json"));
  CHECK_FALSE(contains(render_diff_text(foreign.two, {}, terminal(100)), "temporary"));
  const Pair same(golden("foreign/valgrind_heap.json"), golden("foreign/valgrind_heap.json"));
  CHECK(contains(render_diff_text(same.two, {}, terminal(100)), "no change: "));
}

TEST_CASE("names cannot break out of a Markdown table") {
  Profile base = scene_before();
  Profile current = scene_profile();
  for (Frame& frame : current.frames) {
    if (frame.function.starts_with("leak_cache")) frame.function = "a|b`c**d</td>\n|";
  }
  const Pair pair(std::move(base), std::move(current));
  bool found = false;
  for (const std::string& line : split(render_diff_markdown(pair.two, {}, terminal(80)))) {
    if (!contains(line, "d</td>")) continue;
    found = found || line.starts_with("| ");
    if (!line.starts_with("| ")) continue;
    CAPTURE(line);
    CHECK(contains(line, "`` a\\|b`c**d</td>\\x0a\\| ``"));
  }
  CHECK(found);
}
