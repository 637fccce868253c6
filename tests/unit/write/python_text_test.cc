// tests/unit/write/python_text_test.cc: what people see of a Python program: its lines, imports, packages, and what the
// interpreter keeps.
#include "cli/model/analysis/findings.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/suppressions.h"
#include "cli/write/report/findings_words.h"
#include "cli/write/report/formats.h"
#include "cli/write/report/report_sections.h"
#include "tests/support/golden.h"
#include "tests/support/python_scene.h"
#include "tests/support/rendered.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * 1024;
const std::string kSite = "/home/me/.venv/lib/python3.11/site-packages/";
const std::string kStandardFolder = "/usr/lib/python3.11/";
const PythonCall kLoad = {"Data.load.<locals>.<listcomp>", "/home/me/app/data/load.py", 71};
const PythonCall kPandasModule = {"<module>", kSite + "pandas/__init__.py", 22};
const PythonCall kMerge = {"DataFrame.merge", kSite + "pandas/core/frame.py", 10'832};
const PythonCall kNumpy = native("array_new", kSite + "numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so");

Profile python_scene() {
  PythonScene scene;
  scene.add({kNumpy, kMerge, kEvaluate, kTrain, kMainModule, kEvaluate, kBytesMain}, 630 * kMiB, 3);
  scene.add({kNewDict, kMerge, kEvaluate, kTrain, kMainModule, kEvaluate, kBytesMain}, 116 * kMiB, 90);
  scene.add({kNewDict, kPandasModule, kFind, kEvaluate, kMainModule, kEvaluate, kBytesMain}, 84 * kMiB, 12'000);
  scene.add({kNewDict, kLoad, kTrain, kMainModule, kEvaluate, kBytesMain}, 100 * kMiB, 7);
  scene.add({kNewDict, {"loads", kStandardFolder + "json/__init__.py", 346}, kLoad, kTrain, kMainModule}, 50 * kMiB, 9);
  scene.add({kNewDict, kInitialize, kBytesMain}, 900 * kKiB, 300);
  Profile profile = scene.take();
  profile.run.start_unix_ns = 1'795'198'380'123'456'789;
  profile.run.duration_ns = 4'000'000'000;
  for (Site& site : profile.devices[0].sites) {
    SizedNumbers& n = site.numbers;
    if (n.total_bytes >= 600 * kMiB) continue;
    n.first_leak_ns = 1'000'000;
    n.last_leak_ns = 2'000'000'000;
  }
  return profile;
}

Profile marked(const FoldRules& rules, ReportView* view) {
  Profile profile = python_scene();
  add_default_suppressions(&view->suppressions);
  mark_suppressed(view->suppressions, &profile);
  mark_folded(rules, &profile);
  view->file = "r.json";
  return profile;
}

std::string rendered(ReportView view, int columns, const FoldRules& rules = {}) {
  const Profile profile = marked(rules, &view);
  const std::string text = render_report_text(profile, view, terminal(columns));
  check_lines(text, static_cast<size_t>(columns));
  return text;
}

}  // namespace

TEST_CASE("the report of a Python program has its own lines, imports, and whose code asked") {
  check_golden("report/python_80.txt", rendered({}, 80));
  check_golden("report/python_40.txt", rendered({}, 40));
  FoldRules libraries;
  libraries.libraries = true;
  check_golden("report/python_libraries_80.txt", rendered({}, 80, libraries));
}

TEST_CASE("the table of packages loses columns, and no numbers, where there is no room") {
  ReportView view;
  view.packages = true;
  check_golden("report/python_packages_80.txt", rendered(view, 80));
  check_golden("report/python_packages_40.txt", rendered(view, 40));
  view.sort = Metric::kLeaked;
  view.top = 2;
  check_golden("report/python_packages_leaked.txt", rendered(view, 80));
}

TEST_CASE("JSON has the packages, and their sums are the device's") {
  ReportView view;
  const Profile profile = marked({}, &view);
  const std::string json = render_report_json(profile, view, terminal(80));
  check_golden("report/python.json", json);
}

TEST_CASE("what is said of packages is little where there is little to say") {
  PythonScene scene;
  scene.add({kNewDict, kTrain, kMainModule, kEvaluate});
  Profile profile = scene.take();
  CHECK(
      package_lines(profile, build_place_tree(profile), profile.devices[0], 80).empty());  // one package needs no line
  profile.devices[0].name = "mapped";
  CHECK(package_cells(profile, build_place_tree(profile), profile.devices[0]).empty());
  scene = PythonScene();
  scene.add({native("f", "/opt/app")}).add({native("g", "/opt/app"), native("f", "/opt/app")});
  profile = scene.take();
  CHECK(package_cells(profile, build_place_tree(profile), profile.devices[0]).empty());
  CHECK(packages_table(profile, build_place_tree(profile), profile.devices[0], {}).empty());
}

TEST_CASE("a package may be called anything") {
  PythonScene scene;
  scene.add({kNewDict, {"f", kSite + "a\x1b[31m\n" + std::string(200, 'x') + "/b.py", 1}, kMainModule}, 900);
  scene.add({kNewDict, kMainModule}, 100);
  const Profile profile = scene.take();
  check_lines(package_lines(profile, build_place_tree(profile), profile.devices[0], 80), 80);
  check_lines(packages_table(profile, build_place_tree(profile), profile.devices[0], {10, false, 60, Metric::kPeak}),
              60);
}

TEST_CASE("findings of a line of Python advise in its words") {
  PythonScene scene;
  scene.add({kNewDict, kTrain, kMainModule, kEvaluate}).add({native("f", "/opt/app/fast.so"), kTrain, kMainModule});
  const Profile profile = scene.take();
  const auto remedy_of = [&](const std::string& function, FindingKind kind) {
    Finding finding;
    finding.kind = kind;
    finding.has_frame = true;
    for (uint32_t i = 0; i < profile.frames.size(); ++i) {
      if (profile.frames[i].function == function) finding.frame = i;
    }
    return finding_remedy(profile, finding);
  };
  for (int kind = 0; kind <= static_cast<int>(FindingKind::kStorm); ++kind) {
    const std::string python = remedy_of("train", static_cast<FindingKind>(kind));
    CAPTURE(python);
    CHECK_FALSE(python.empty());
    CHECK(python.find("std::") == std::string::npos);
    CHECK(python.find("reserve") == std::string::npos);
    CHECK(python != remedy_of("f", static_cast<FindingKind>(kind)));
  }
}
