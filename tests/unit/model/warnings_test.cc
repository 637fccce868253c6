// tests/unit/model/warnings_test.cc: what makes numbers or names doubtful is said, and nothing else.
#include "cli/model/analysis/warnings.h"

#include "cli/base/units.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {
std::vector<std::string> ids(const Profile& profile) {
  std::vector<std::string> result;
  for (const Problem& warning : find_warnings(profile)) {
    CHECK(warning.exit_code == 0);
    result.push_back(warning.id);
  }
  return result;
}
using Ids = std::vector<std::string>;
}  // namespace

TEST_CASE("a whole profile gives no warning") { CHECK(ids(scene_profile()).empty()); }

TEST_CASE("each count that makes a profile doubtful is said") {
  Profile profile = scene_profile();
  Counters& counters = profile.run.counters;
  counters.lost = 1;
  CHECK(ids(profile) == Ids{"HP038"});
  profile.run.complete = false;
  CHECK(ids(profile) == Ids{"HP038"});  // lost events are the reason
  profile.run.incomplete_reason = "the program forbade itself the time stamp counter; events were lost";
  CHECK(ids(profile) == Ids{"HP038", "HP048"});
  profile.run.incomplete_reason.clear();
  counters.lost = 0;
  profile.run.incomplete_reason = "the collector detached";
  CHECK(ids(profile) == Ids{"HP048"});
  profile.run.complete = true;
  counters.truncated_stacks = 1;
  CHECK(ids(profile) == Ids{"HP039"});
  counters.truncated_stacks = 0;
  counters.corrupt_records = 1;
  CHECK(ids(profile) == Ids{"HP046"});
  counters.corrupt_records = 0;
  counters.verify_mismatched = 1;
  CHECK(ids(profile) == Ids{"HP044"});
  counters.verify_mismatched = 0;
  profile.run.coverage.clock = "sequence";
  CHECK(ids(profile) == Ids{"HP042"});
  profile.run.coverage.clock = "tsc";
  profile.run.coverage.self_test_failures = {"pvalloc"};
  CHECK(ids(profile) == Ids{"HP041"});
  profile.run.coverage.self_test_failures.clear();
  profile.run.coverage.bypassing_modules = {"/opt/a.so", "/opt/b.so", "c.so", "d.so", "e.so", "f.so", "g.so"};
  const std::vector<Problem> warnings = find_warnings(profile);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].what.find("a.so, b.so, c.so, d.so, e.so and 2 more") != std::string::npos);
}

TEST_CASE("stacks that end early are a share of the stacks of all devices") {
  Profile profile = scene_profile();
  profile.run.counters.allocations = 2;  // of the heap
  profile.devices.push_back(profile.devices[0]);
  profile.devices.back().name = "mapped";
  uint64_t truncated = 0;
  uint64_t all = 0;
  for (Device& device : profile.devices) {
    for (Site& site : device.sites) all += site.numbers.total_blocks;
  }
  for (Site& site : profile.devices.back().sites) {
    site.truncated = true;
    truncated += site.numbers.total_blocks;
  }
  profile.run.counters.truncated_stacks = truncated;
  REQUIRE(ids(profile) == Ids{"HP039"});
  const std::string what = find_warnings(profile)[0].what;
  CHECK(what.starts_with(format_count_exact(truncated) + " of " + format_count(all) + " stacks"));
  CHECK(what.find("(49.9 %)") != std::string::npos);  // the scene has another device, with few blocks
}

TEST_CASE("blocks that begin or end unseen are said where a true program has none") {
  Profile profile = scene_profile();
  Counters& counters = profile.run.counters;
  counters.allocations = 10'000;
  counters.foreign_frees = 9;
  counters.unseen_frees = 0;
  CHECK(ids(profile).empty());
  counters.foreign_frees = 99;
  CHECK(ids(profile).empty());
  counters.unseen_frees = 2;
  REQUIRE(ids(profile) == Ids{"HP116"});
  CHECK(find_warnings(profile)[0].what.find("101 of 10,099 blocks") != std::string::npos);
  counters.unseen_frees = 0;
  counters.inherited_frees = 5'000;  // a forked child's: its parent's blocks
  CHECK(ids(profile).empty());
}

TEST_CASE("programs that were not profiled are named") {
  Profile profile = scene_profile();
  std::vector<UnprofiledProgram>& programs = profile.run.coverage.unprofiled_programs;
  programs.push_back({"/bin/busybox", "statically linked", 3, false});
  programs.push_back({"./old", "a program for another machine", 1, false});
  REQUIRE(ids(profile) == Ids{"HP070"});
  CHECK(find_warnings(profile)[0].what.find(
            "busybox (statically linked) 3 times, old (a program for another machine)") != std::string::npos);
  profile.run.counters.notes_lost = 7;
  CHECK(find_warnings(profile)[0].what.find("7 starts without a name") != std::string::npos);
  profile.run.counters.notes_lost = 0;
  programs = {{"./server", "made for another C library", 2, true}};
  REQUIRE(ids(profile) == Ids{"HP069"});
  CHECK(find_warnings(profile)[0].what.find("the process became ./server") != std::string::npos);
}

TEST_CASE("a peak without names is said once, with the module that holds most of it") {
  Profile profile = scene_profile();
  for (Frame& frame : profile.frames) {
    if (frame.function.rfind("build_index", 0) == 0) frame.function.clear();
  }
  const std::vector<Problem> warnings = find_warnings(profile);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].what == "66 % of the peak lies in functions without names: render has no symbols");
  CHECK(warnings[0].fix.find("heapprof symbolize --debug-dir") != std::string::npos);
  const NamesAdviser adviser = [](const ProfileModule& module) {
    return NamesAdvice{"render-" + module.path.substr(module.path.rfind('/') + 1), "install it"};
  };
  const std::vector<Problem> advised = find_warnings(profile, adviser);
  CHECK(advised[0].what ==
        "66 % of the peak lies in functions without names: render (package render-render) has no symbols");
  CHECK(advised[0].fix == "install it");
}

TEST_CASE("files of other tools carry no warnings") {
  Profile profile = scene_profile();
  profile.run.counters.lost = 1;
  profile.dialect = Dialect::kValgrind;
  CHECK(ids(profile).empty());
}
