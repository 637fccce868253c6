// tests/unit/model/invariants_test.cc: each number is spoiled once, and each time it is noticed.
#include "cli/model/profile/invariants.h"

#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

#include <functional>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

struct Spoiled {
  const char* expected;  // in one of the sentences
  std::function<void(Profile*)> spoil;
};

bool mentions(const std::vector<std::string>& violations, const std::string& text) {
  return std::any_of(violations.begin(), violations.end(),
                     [&](const std::string& one) { return one.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("a sound profile has no violations") {
  CHECK(find_violations(test::assembled(test::small_sample())).empty());
}

TEST_CASE("every spoiled number is noticed") {
  const auto host = [](Profile* p) -> Device& { return p->devices[0]; };
  const auto site = [](Profile* p) -> SizedNumbers& { return p->devices[0].sites[1].numbers; };
  const std::vector<Spoiled> cases = {
      {"total_bytes sum to", [&](Profile* p) { ++host(p).totals.total_bytes; }},
      {"total_blocks sum to", [&](Profile* p) { ++host(p).totals.total_blocks; }},
      {"peak_bytes sum to", [&](Profile* p) { --host(p).totals.peak_bytes; }},
      {"peak_blocks sum to", [&](Profile* p) { --host(p).totals.peak_blocks; }},
      {"leaked_bytes sum to", [&](Profile* p) { ++host(p).totals.leaked_bytes; }},
      {"leaked_blocks sum to", [&](Profile* p) { ++host(p).totals.leaked_blocks; }},
      {"temporary_blocks sum to", [&](Profile* p) { ++host(p).totals.temporary_blocks; }},
      {"max_bytes is", [&](Profile* p) { site(p).max_bytes = site(p).total_bytes + 1; }},
      {"max_blocks is", [&](Profile* p) { site(p).max_blocks = site(p).total_blocks + 1; }},
      {"more than max_bytes", [&](Profile* p) { site(p).max_bytes = site(p).peak_bytes - 1; }},
      {"leaked_bytes is", [&](Profile* p) { site(p).leaked_bytes = site(p).total_bytes + 1; }},
      {"the device's peak_bytes", [&](Profile* p) { site(p).max_bytes = host(p).totals.peak_bytes + 1; }},
      {"first_leak_ns", [&](Profile* p) { site(p).first_leak_ns = site(p).last_leak_ns + 1; }},
      {"last_leak_ns is", [&](Profile* p) { site(p).last_leak_ns = p->run.duration_ns + 1; }},
      {"lived", [&](Profile* p) { site(p).lifetime_ns = site(p).total_blocks * p->run.duration_ns + 1; }},
      {"resized_blocks is", [&](Profile* p) { site(p).resized_blocks = site(p).total_blocks + 1; }},
      {"moved_bytes is", [&](Profile* p) { site(p).moved_bytes = site(p).total_bytes + 1; }},
      {"live bytes of 1 moments", [&](Profile* p) { host(p).sites[1].live_bytes = {1}; }},
      {"live_bytes is",
       [&](Profile* p) {
         host(p).moments_ns = {5};
         host(p).sites[1].live_bytes = {site(p).max_bytes + 1};
       }},
      {"the sites' live_bytes is",
       [&](Profile* p) {
         host(p).moments_ns = {5};
         for (Site& one : host(p).sites) one.live_bytes = {one.numbers.max_bytes};
       }},
      {"a moment before is",
       [&](Profile* p) {
         host(p).moments_ns = {5, 4};
       }},
      {"the last moment is", [&](Profile* p) { host(p).moments_ns = {p->run.duration_ns + 1}; }},
      {"sizes are counted", [&](Profile* p) { site(p).sizes.set(3, site(p).sizes[3] + 1); }},
      {"what blocks of the sizes counted have at least is",
       [&](Profile* p) {
         site(p).sizes = SizeHistogram();
         site(p).sizes.set(kSizeBuckets - 1, site(p).total_blocks);
       }},
      {"temporary_blocks is", [&](Profile* p) { site(p).temporary_blocks = site(p).total_blocks + 1; }},
      {"timeline's maximum",
       [&](Profile* p) {
         for (auto& bucket : host(p).timeline.buckets) bucket.max_bytes += 1;
       }},
      {"timeline ends",
       [&](Profile* p) {
         host(p).timeline.buckets.back() = {0, 1};
       }},
      {"timeline bucket's", [&](Profile* p) { host(p).timeline.buckets[3].min_bytes = 1 << 20; }},
      {"peak_ns is", [&](Profile* p) { host(p).totals.peak_ns = p->run.duration_ns + 1; }},
      {"max_blocks is", [&](Profile* p) { host(p).totals.max_blocks = host(p).totals.total_blocks + 1; }},
      {"live_at_rss_max_bytes",
       [&](Profile* p) { host(p).totals.live_at_resident_max_bytes = host(p).totals.peak_bytes + 1; }},
      {"rss_at_peak_bytes",
       [&](Profile* p) { host(p).totals.resident_at_peak_bytes = host(p).totals.resident_max_bytes + 1; }},
      {"another site", [&](Profile* p) { host(p).sites[1].node = host(p).sites[0].node; }},
      {"not in its place", [&](Profile* p) { std::swap(host(p).sites[0], host(p).sites[1]); }},
      {"names stack", [&](Profile* p) { host(p).sites[0].node = 1000; }},
      {"has parent", [&](Profile* p) { p->nodes[2].parent = 2; }},
      {"names frame", [&](Profile* p) { p->nodes[2].frame = 1000; }},
      {"names module", [&](Profile* p) { p->frames[0].module = 1000; }},
      {"two frames read", [&](Profile* p) { p->frames[0] = p->frames[1]; }},
      {"[no stack]", [&](Profile* p) { p->frames[5] = {0, "[no stack]", "", 0, kNoModule, false}; }},
      {"no device", [&](Profile* p) { p->devices.clear(); }},
      {"complete", [&](Profile* p) { p->run.complete = false; }},
      {"complete", [&](Profile* p) { p->run.incomplete_reason = "why"; }},
  };
  for (const Spoiled& spoiled : cases) {
    Profile profile = test::assembled(test::small_sample());
    spoiled.spoil(&profile);
    const std::vector<std::string> violations = find_violations(profile);
    INFO("expected: " << spoiled.expected << ", got: " << (violations.empty() ? "nothing" : violations[0]));
    CHECK(mentions(violations, spoiled.expected));
  }
}

TEST_CASE("a profile that is wrong all over gives twenty sentences") {
  Profile profile = test::assembled(test::random_sample({1, 500, 10, 50}));
  for (Site& site : profile.devices[0].sites) site.numbers.max_bytes = UINT64_MAX;
  CHECK(find_violations(profile).size() == 20);
}

TEST_CASE("files of other tools need not keep what only ours promise") {
  Profile profile = test::assembled(test::small_sample());
  profile.dialect = Dialect::kValgrind;
  profile.devices[0].sites[1].numbers.max_bytes = 0;
  profile.devices[0].sites[1].numbers.sizes = {};
  CHECK(find_violations(profile).empty());
}
