// tests/unit/model/snapshots_test.cc: what sites had at snapshots stays true when sites are summed, and when small ones
// go into rows; which snapshot is meant; and a snapshot as a profile of its own.
#include "cli/model/profile/snapshots.h"

#include "cli/base/saturating.h"
#include "cli/model/analysis/group.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/moment.h"
#include "cli/model/profile/invariants.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

#include <random>

using namespace heapprof::cli;
using namespace heapprof;

namespace {

constexpr uint32_t kSnapshots = 9;

// Steps of sites at random, and snapshots that say what they sum to.
Profile with_snapshots(Profile profile, uint64_t seed) {
  std::mt19937_64 random(seed);
  Snapshots& all = profile.snapshots;
  all.interval_ns = all.kept_interval_ns = 1'000'000'000;
  all.snapshots.resize(kSnapshots);
  for (uint32_t i = 0; i < kSnapshots; ++i) {
    Snapshot& snapshot = all.snapshots[i];
    snapshot.at_ns = profile.run.duration_ns * i / kSnapshots;
    if (i % 3 == 0) snapshot.is_mark = true, snapshot.category = "io", snapshot.name = i < 6 ? "loaded" : "trained..1";
    for (Device& device : profile.devices) snapshot.devices.push_back({device.name, 0, 0, {}});
  }
  for (size_t d = 0; d < profile.devices.size(); ++d) {
    Device& device = profile.devices[d];
    for (Site& site : device.sites) {
      for (uint32_t i = 0; i < kSnapshots; ++i) {
        if (random() % 3 != 0) continue;
        // A part of the site's share of the peak: so that no sum is above it.
        site.steps.push_back({i, random() % (site.numbers.peak_bytes + 1), random() % (site.numbers.total_blocks + 1)});
      }
      for (uint32_t i = 0; i < kSnapshots; ++i) {
        const LiveAmount live = amount_at(site.steps, i);
        all.snapshots[i].devices[d].live_bytes += live.bytes;
        all.snapshots[i].devices[d].live_blocks += live.blocks;
      }
    }
  }
  return profile;
}

}  // namespace

TEST_CASE("before its first step a site has nothing, and after each what that says") {
  const std::vector<SiteStep> steps = {{2, 10, 1}, {5, 0, 0}, {7, 3, 2}};
  CHECK(amount_at(steps, 0) == LiveAmount{});
  CHECK(amount_at(steps, 1) == LiveAmount{});
  CHECK(amount_at(steps, 2) == LiveAmount{10, 1});
  CHECK(amount_at(steps, 4) == LiveAmount{10, 1});
  CHECK(amount_at(steps, 6) == LiveAmount{});
  CHECK(amount_at(steps, 99) == LiveAmount{3, 2});
}

TEST_CASE("two sites that become one have at each snapshot what both had") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<SiteStep> a, b;
    for (uint32_t i = 0; i < kSnapshots; ++i) {
      if (random() % 2) a.push_back({i, random() % 100, random() % 10});
      if (random() % 2) b.push_back({i, random() % 5 == 0 ? UINT64_MAX : random() % 100, random() % 10});
    }
    std::vector<SiteStep> sum = a;
    add_steps(&sum, b);
    for (uint32_t i = 0; i < kSnapshots; ++i) {
      const LiveAmount x = amount_at(a, i);
      const LiveAmount y = amount_at(b, i);
      CHECK(amount_at(sum, i) == LiveAmount{add_saturating(x.bytes, y.bytes), add_saturating(x.blocks, y.blocks)});
    }
    for (size_t i = 1; i < sum.size(); ++i) CHECK(sum[i].snapshot > sum[i - 1].snapshot);
  }
}

TEST_CASE("snapshots stay true where small sites go into rows") {
  Profile profile = with_snapshots(test::assembled(test::random_sample({11, 40'000, 14, 300})), 1);
  REQUIRE(find_violations(profile).empty());
  const size_t before = profile.devices[0].sites.size();
  group_small_sites(&profile, {1000, 500});
  CHECK(profile.devices[0].sites.size() < before);
  CHECK(find_violations(profile).empty());
}

TEST_CASE("a snapshot that does not say what its sites have is found") {
  const Profile good = with_snapshots(test::assembled(test::small_sample()), 2);
  REQUIRE(find_violations(good).empty());
  const auto refuses = [&](const char* text, const auto& spoil) {
    Profile profile = good;
    spoil(&profile);
    const std::vector<std::string> violations = find_violations(profile);
    const auto has = std::any_of(violations.begin(), violations.end(),
                                 [&](const std::string& it) { return it.find(text) != std::string::npos; });
    INFO(text << ": " << (violations.empty() ? "" : violations[0]));
    CHECK(has);
  };
  refuses("which says", [](Profile* p) { ++p->snapshots.snapshots[4].devices[0].live_bytes; });
  refuses("which says", [](Profile* p) { ++p->snapshots.snapshots[8].devices[0].live_blocks; });
  refuses("which says", [](Profile* p) { p->snapshots.snapshots[3].devices.clear(); });
  refuses("at snapshot 8 of 8", [](Profile* p) {
    p->snapshots.snapshots.pop_back();
    p->devices[0].sites[0].steps = {{8, 1, 1}};
  });
  refuses("is at", [](Profile* p) { p->snapshots.snapshots[1].at_ns = p->run.duration_ns + 1; });
  refuses("has host twice", [](Profile* p) { p->snapshots.snapshots[0].devices.push_back({"host", 0, 0, {}}); });
  refuses("has cuda:7", [](Profile* p) { p->snapshots.snapshots[0].devices.push_back({"cuda:7", 0, 0, {}}); });
  refuses("not in order", [](Profile* p) { p->snapshots.snapshots[0].devices[0].largest = {{0, 5, 0}, {0, 6, 0}}; });
  refuses("names stack", [](Profile* p) { p->snapshots.snapshots[0].devices[0].largest = {{9999, 5, 0}}; });
  refuses("no interval", [](Profile* p) { p->snapshots.interval_ns = 0; });
  refuses("live_bytes of a snapshot is", [](Profile* p) {
    p->devices[0].sites[0].steps = {{0, p->devices[0].sites[0].numbers.max_bytes + 1, 1}};
  });
}

TEST_CASE("a snapshot is meant by its number, or by the name of its mark if no other has it") {
  const Profile profile = with_snapshots(test::assembled(test::small_sample()), 3);
  const auto found = [&](const char* name) { return find_snapshot(profile, name, "r.json"); };
  CHECK(*found("1") == 0);
  CHECK(*found("9") == 8);
  CHECK(*found("trained..1") == 6);
  CHECK(*found("io:trained..1") == 6);
  CHECK(*found("io: trained..1") == 6);
  CHECK(found("0").problem().id == "HP202");
  CHECK(found("10").problem().id == "HP202");
  CHECK(found("").problem().id == "HP202");
  CHECK(found("18446744073709551617").problem().id == "HP202");
  CHECK(found("end").problem().what == "r.json has no snapshot 'end', only 1 to 9, io: loaded, io: trained..1");
  CHECK(found("loaded").problem().what == "r.json has several snapshots 'loaded': 1, 4");
  CHECK(find_snapshot(test::assembled(test::small_sample()), "1", "r.json").problem().id == "HP201");
  const auto pair = find_snapshot_pair(profile, "2..trained..1", "r.json");
  REQUIRE(pair.ok());
  CHECK(pair->base == 1);
  CHECK(pair->current == 6);
  CHECK(find_snapshot_pair(profile, "2", "r.json").problem().id == "HP052");
  CHECK(find_snapshot_pair(profile, "2..99", "r.json").problem().id == "HP202");
}

TEST_CASE("a snapshot as a profile has each site's live bytes, and knows nothing else") {
  const Profile whole = with_snapshots(test::assembled(test::random_sample({9, 200, 12, 100})), 4);
  for (const uint32_t at : {0u, 4u, 8u}) {
    Profile moment = whole;
    keep_moment(at, &moment);
    CHECK(has_metric(moment, Metric::kLeaked));
    CHECK_FALSE(has_metric(moment, Metric::kPeak));
    CHECK_FALSE(has_metric(moment, Metric::kAllocations));
    LiveAmount sum;
    for (const Site& site : moment.devices[0].sites) {
      sum.bytes += site.numbers.leaked_bytes;
      sum.blocks += site.numbers.leaked_blocks;
    }
    const SnapshotDevice& said = whole.snapshots.snapshots[at].devices[0];
    CHECK(sum == LiveAmount{said.live_bytes, said.live_blocks});
    CHECK(moment.devices[0].totals.leaked_bytes == said.live_bytes);
  }
}
