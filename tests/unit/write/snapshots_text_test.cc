// tests/unit/write/snapshots_text_test.cc: snapshots as a table, what grew, what was live and the largest blocks, on
// terminals of every width, and as JSON; whatever marks are called.
#include "cli/write/report/formats.h"
#include "tests/support/golden.h"
#include "tests/support/rendered.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

// Of the scene's first three sites; the second device comes late.
Profile watched() {
  Profile profile = scene_profile();
  Snapshots& all = profile.snapshots;
  all.interval_ns = 5'000'000'000;
  all.kept_interval_ns = 10'000'000'000;
  all.thinned = 2;
  all.late = 3;
  std::vector<Site>& sites = profile.devices[0].sites;
  sites[0].steps = {{0, 100u << 20, 5000}, {2, 900u << 20, 19'000}, {3, 901u << 20, 19'001}};
  sites[1].steps = {{1, 64u << 20, 16}, {3, 0, 0}};
  sites[2].steps = {{0, 12'345, 7}};
  for (uint32_t i = 0; i < 4; ++i) {
    Snapshot& snapshot = all.snapshots.emplace_back();
    snapshot.at_ns = 2'500'000'000 * (i + 1);
    SnapshotDevice& host = snapshot.devices.emplace_back();
    host.device = "host";
    for (size_t site = 0; site < 3; ++site) {
      const LiveAmount live = amount_at(sites[site].steps, i);
      host.live_bytes += live.bytes;
      host.live_blocks += live.blocks;
    }
    host.largest = {{sites[0].node, 4u << 20, 1'000'000}, {sites[1].node, 4096, 2'400'000'000}, {0, 17, 5}};
  }
  Snapshot& loaded = all.snapshots[1];
  loaded.is_mark = true;
  loaded.category = "io";
  loaded.name = "scene loaded";
  loaded.thread = 4711;
  for (uint32_t i = 2; i < 4; ++i)
    all.snapshots[i].devices.push_back({profile.devices[1].name, i == 2 ? 0 : uint64_t{1} << 30, i == 2 ? 0u : 3u, {}});
  profile.devices[1].sites[0].steps = {{3, 1u << 30, 3}};
  return profile;
}

ReportView view_of_snapshots() {
  ReportView view;
  view.snapshots = true;
  view.file = "render.json";
  return view;
}

}  // namespace

TEST_CASE("the snapshots of a run, what grew, and what was live at the last") {
  const Profile profile = watched();
  ReportView view = view_of_snapshots();
  for (const int columns : {40, 60, 80, 120}) {
    const std::string text = render_snapshots_text(profile, view, terminal(columns));
    check_lines(text, static_cast<size_t>(columns));
    check_golden("report/snapshots_" + std::to_string(columns) + ".txt", text);
  }
  view.between = SnapshotPair{3, 1};
  view.device = "host";
  view.top = 1;
  view.exact_bytes = true;
  check_golden("report/snapshots_between.txt", render_snapshots_text(profile, view, terminal(100)));
  check_golden("report/snapshots_between.json", render_snapshots_json(profile, view, terminal(80)));
}

TEST_CASE("without snapshots it says so, and how to have some; with an interval and none, that there are none") {
  Profile profile = scene_profile();
  CHECK(render_snapshots_text(profile, view_of_snapshots(), terminal(80)) ==
        "SNAPSHOTS  none were kept (heapprof run --interval 5s)\n");
  profile.snapshots.interval_ns = kMarksOnly;
  profile.snapshots.lost = 4;
  CHECK(render_snapshots_text(profile, view_of_snapshots(), terminal(80)) ==
        "SNAPSHOTS  0 snapshots, at marks, 4 not kept for lack of room\n");
}

TEST_CASE("marks of any name leave the terminal as it is, and many snapshots are cut in the middle") {
  Profile profile = watched();
  Snapshots& all = profile.snapshots;
  all.snapshots[1].name = "\x1b[2J\n\t\x7f" + std::string(200, 'x');
  check_lines(render_snapshots_text(profile, view_of_snapshots(), terminal(40)), 40);
  while (all.snapshots.size() < 500) all.snapshots.push_back(all.snapshots.back());
  const std::string text = render_snapshots_text(profile, view_of_snapshots(), terminal(80));
  CHECK(text.find("and 400 snapshots between these (--format json)\n") != std::string::npos);
  CHECK(split(text).size() < 240);
}
