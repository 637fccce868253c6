// tests/unit/model/merge_profiles_test.cc: what adds up, what does not, and whose peak stands out.
#include "cli/model/compare/merge_profiles.h"

#include "cli/model/compare/peak_spread.h"
#include "cli/model/profile/canonical.h"
#include "cli/model/profile/invariants.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

Profile merged(const std::vector<Profile>& profiles) {
  ProfileMerger merger;
  for (size_t i = 0; i < profiles.size(); ++i) {
    const Result<Done> added = merger.add(profiles[i], "dir/rank" + std::to_string(i) + ".json");
    if (!added) FAIL(added.problem().what);
  }
  return merger.take();
}

const Device& host(const Profile& profile) { return profile.devices[0]; }

TEST_CASE("what processes had in use adds up; what all had is the larger") {
  DeviceUse sum;
  add_use(&sum, {0, 0, 0, false, "no driver"});
  CHECK(sum.missing == "no driver");
  add_use(&sum, {2, 100, 60, false, ""});
  add_use(&sum, {0, 0, 0, false, "no sample"});
  CHECK(sum.missing == "no driver");  // of one of them
  CHECK(sum.max_bytes == 100);
  add_use(&sum, {3, 50, 50, false, ""});
  CHECK(sum.samples == 5);
  CHECK(sum.max_bytes == 150);
  CHECK(sum.seen_at_max_bytes == 110);
  CHECK(unattributed_bytes(sum) == 40);
  add_use(&sum, {1, 900, 10, true, ""});
  CHECK(sum.samples == 6);
  CHECK(sum.is_of_all);
  CHECK(sum.max_bytes == 900);
  CHECK(sum.seen_at_max_bytes == 10);
  add_use(&sum, {1, 800, 0, true, ""});
  CHECK(sum.max_bytes == 900);
}

}  // namespace

TEST_CASE("what was judged adds up, and that some was not is said") {
  Profile judged = assembled(small_sample());
  const Profile other = judged;
  judged.run.leak_check = {true, true, "", 4096, 0, 1, 10};
  for (Site& site : judged.devices[0].sites) {
    site.numbers.lost_bytes = site.numbers.leaked_bytes;
    site.numbers.lost_blocks = site.numbers.leaked_blocks;
  }
  uint64_t lost_bytes = 0;
  for (const Site& site : judged.devices[0].sites) lost_bytes += site.numbers.lost_bytes;
  REQUIRE(lost_bytes > 0);
  const auto sum_of = [](const Profile& profile) {
    uint64_t sum = 0;
    for (const Site& site : profile.devices[0].sites) sum += site.numbers.lost_bytes;
    return sum;
  };
  const Profile both = merged({judged, judged});
  CHECK(find_violations(both).empty());
  CHECK(both.run.leak_check.is_made);
  CHECK(both.run.leak_check.reason.empty());
  CHECK(both.run.leak_check.searched_bytes == 8192);
  CHECK(sum_of(both) == 2 * lost_bytes);
  for (const Profile& mixed : {merged({judged, other}), merged({other, judged})}) {
    CHECK(find_violations(mixed).empty());
    CHECK(mixed.run.leak_check.is_made);
    CHECK(mixed.run.leak_check.reason == "some of the runs were not judged");
    CHECK(sum_of(mixed) == lost_bytes);
  }
}

TEST_CASE("a profile merged with itself has every number twice and the same sites") {
  const Profile one = assembled(small_sample());
  const Profile two = merged({one, one});
  CHECK(find_violations(two) == std::vector<std::string>{});
  REQUIRE(two.devices.size() == one.devices.size());
  for (size_t i = 0; i < one.devices.size(); ++i) {
    CHECK(two.devices[i].totals.total_bytes == 2 * one.devices[i].totals.total_bytes);
    CHECK(two.devices[i].totals.leaked_blocks == 2 * one.devices[i].totals.leaked_blocks);
    CHECK(two.devices[i].totals.peak_bytes == 2 * one.devices[i].totals.peak_bytes);
    REQUIRE(two.devices[i].sites.size() == one.devices[i].sites.size());
    for (size_t site = 0; site < one.devices[i].sites.size(); ++site) {
      CHECK(two.devices[i].sites[site].numbers.total_bytes == 2 * one.devices[i].sites[site].numbers.total_bytes);
      CHECK(two.devices[i].sites[site].numbers.leaked_bytes == 2 * one.devices[i].sites[site].numbers.leaked_bytes);
    }
    CHECK(two.devices[i].timeline.buckets.empty());
  }
  CHECK(two.nodes.size() == one.nodes.size());
  CHECK(two.run.counters.allocations == 2 * one.run.counters.allocations);
  CHECK(two.run.duration_ns == one.run.duration_ns);
}

TEST_CASE("random profiles add up, in any grouping") {
  const Profile a = assembled(random_sample({1, 200, 20, 300}));
  const Profile b = assembled(random_sample({2, 300, 20, 300}));
  const Profile c = assembled(small_sample());
  const Profile at_once = merged({a, b, c});
  CHECK(find_violations(at_once) == std::vector<std::string>{});
  CHECK(host(at_once).totals.total_bytes ==
        host(a).totals.total_bytes + host(b).totals.total_bytes + host(c).totals.total_bytes);
  CHECK(host(at_once).totals.temporary_blocks ==
        host(a).totals.temporary_blocks + host(b).totals.temporary_blocks + host(c).totals.temporary_blocks);
  const Profile in_steps = merged({merged({a, b}), c});
  CHECK(find_violations(in_steps) == std::vector<std::string>{});
  CHECK(in_steps.merged.size() == at_once.merged.size());
  CHECK(in_steps.merged.back().input == 2);
  REQUIRE(host(in_steps).sites.size() == host(at_once).sites.size());
  for (size_t i = 0; i < host(at_once).sites.size(); ++i)
    CHECK(host(in_steps).sites[i].numbers.total_bytes == host(at_once).sites[i].numbers.total_bytes);
  CHECK(host(in_steps).totals.peak_ns == host(at_once).totals.peak_ns);
}

TEST_CASE("a program at another path is the same by its build id, another build is not") {
  Profile a = assembled(small_sample());
  Profile b = a;
  b.modules[0].path = "/somewhere/else/" + b.modules[0].path.substr(b.modules[0].path.rfind('/') + 1);
  CHECK(merged({a, b}).modules.size() == a.modules.size());
  b.modules[0].build_id = "0123";
  CHECK(merged({a, b}).modules.size() == a.modules.size() + 1);
}

TEST_CASE("devices add by name, and one that only some inputs have stays") {
  const Profile a = assembled(small_sample());
  Profile b = assembled(random_sample({3, 50, 10, 100}));
  const Profile sum = merged({b, a});
  REQUIRE(sum.devices.size() == 2);
  CHECK(sum.devices[1].name == "cuda:0");
  CHECK(sum.devices[1].totals.peak_bytes == a.devices[1].totals.peak_bytes);
  CHECK(find_violations(sum) == std::vector<std::string>{});
}

TEST_CASE("profiles of different tools do not add") {
  const Profile a = assembled(small_sample());
  Profile b = a;
  b.dialect = Dialect::kValgrind;
  b.time_unit = "instrs";
  ProfileMerger merger;
  REQUIRE(merger.add(a, "a.json"));
  const Result<Done> added = merger.add(b, "dhat.out");
  REQUIRE_FALSE(added);
  CHECK(added.problem().id == "HP084");
  CHECK(merger.inputs() == 1);
}

TEST_CASE("an incomplete input makes the sum incomplete and says which") {
  Profile a = assembled(small_sample());
  a.run.complete = true;
  a.run.incomplete_reason.clear();
  Profile b = a;
  b.run.complete = false;
  b.run.incomplete_reason = "events were lost";
  const Profile sum = merged({a, b, a});
  CHECK_FALSE(sum.run.complete);
  CHECK(sum.run.incomplete_reason == "rank1.json: events were lost");
}

TEST_CASE("whose peak stands out") {
  Profile profile;
  const auto add = [&](const char* file, uint64_t peak_bytes) {
    MergedPart part;
    part.input = static_cast<uint32_t>(profile.merged.size());
    part.file = file;
    part.device = "host";
    part.peak_bytes = peak_bytes;
    profile.merged.push_back(part);
  };
  CHECK(find_peak_spread(profile, "host").parts == 0);
  add("rank0", 8'100);
  add("rank1", 8'000);
  add("rank2", 8'200);
  add("rank3", 12'000);
  const PeakSpread spread = find_peak_spread(profile, "host");
  CHECK(spread.parts == 4);
  CHECK(spread.median_bytes == 8'150);
  REQUIRE(spread.outliers.size() == 1);
  CHECK(spread.outliers[0]->file == "rank3");
  CHECK(spread.largest->file == "rank3");
  CHECK(spread.smallest_other_bytes == 8'000);
  CHECK(spread.largest_other_bytes == 8'200);
  add("rank4", 10);
  CHECK(find_peak_spread(profile, "host").outliers[0]->file == "rank4");
  CHECK(find_peak_spread(profile, "cuda:0").parts == 0);
}
