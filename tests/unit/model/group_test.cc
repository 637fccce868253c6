// tests/unit/model/group_test.cc: the tail is summed, and nothing is lost in it.
#include "cli/model/analysis/group.h"

#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/invariants.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

uint64_t stacks_in(const Profile& profile) {
  uint64_t stacks = 0;
  for (const Site& site : profile.devices[0].sites) stacks += std::max<uint64_t>(site.grouped_stacks, 1);
  return stacks;
}

// Nearly all sites are below 0.01 %: shares are small where there are many.
Profile large_profile() { return test::assembled(test::random_sample({11, 40'000, 14, 300})); }

}  // namespace

TEST_CASE("a profile with few sites is left alone") {
  Profile profile = test::assembled(test::small_sample());
  CHECK(group_small_sites(&profile, {}) == 0);
  CHECK(profile.devices[0].sites.size() == 4);
}

TEST_CASE("small sites beyond the limit become rows, and sums stay exact") {
  Profile profile = large_profile();
  const size_t before = profile.devices[0].sites.size();
  const uint64_t all_stacks = stacks_in(profile);
  const GroupOptions options{1000, 500};
  const size_t grouped = group_small_sites(&profile, options);
  CHECK(grouped > before / 2);
  CHECK(profile.devices[0].sites.size() < before - grouped + 501);
  CHECK(find_violations(profile).empty());  // sums over sites are still the totals
  CHECK(stacks_in(profile) == all_stacks);
  for (const Site& site : profile.devices[0].sites) {
    if (site.grouped_stacks == 0) continue;
    uint32_t outermost = site.node;
    while (profile.nodes[outermost].parent != 0) outermost = profile.nodes[outermost].parent;
    CHECK(frame_text(profile, profile.frames[profile.nodes[outermost].frame]) == kSmallSitesText);
    if (site.grouped_stacks > 1 && site.numbers.max_blocks > 1) CHECK(site.max_is_bound);
  }
}

TEST_CASE("no site of 0.01 % in any metric is grouped") {
  Profile profile = large_profile();
  group_small_sites(&profile, {0, 100});
  const DeviceTotals& totals = profile.devices[0].totals;
  // A site alone stays if it is large; what went into rows was small, so every row of one stack is small.
  for (const Site& site : profile.devices[0].sites) {
    if (site.grouped_stacks != 1) continue;
    CHECK(site.numbers.peak_bytes < totals.peak_bytes / 10'000 + 1);
    CHECK(site.numbers.total_bytes < totals.total_bytes / 10'000 + 1);
    CHECK(site.numbers.leaked_bytes < totals.leaked_bytes / 10'000 + 1);
  }
}

TEST_CASE("grouping twice is grouping once") {
  Profile profile = large_profile();
  group_small_sites(&profile, {1000, 500});
  const size_t sites = profile.devices[0].sites.size();
  const uint64_t stacks = stacks_in(profile);
  group_small_sites(&profile, {sites, 500});
  CHECK(profile.devices[0].sites.size() == sites);
  CHECK(stacks_in(profile) == stacks);
}
