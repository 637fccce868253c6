// tests/unit/model/assemble_test.cc: from addresses to named stacks.
#include "cli/model/profile/assemble.h"

#include "cli/model/profile/canonical.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/invariants.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

// Innermost first.
std::vector<std::string> stack_of(const Profile& profile, uint32_t node) {
  std::vector<std::string> texts;
  for (; node != 0; node = profile.nodes[node].parent)
    texts.push_back(frame_text(profile, profile.frames[profile.nodes[node].frame]));
  return texts;
}

}  // namespace

TEST_CASE("inlined frames come before the frame that they are inlined into") {
  const Profile profile = test::assembled(test::small_sample());
  const std::vector<std::string> stack = stack_of(profile, profile.devices[0].sites[0].node);
  REQUIRE(stack.size() == 4);
  CHECK(stack[0].find("push_back") != std::string::npos);
  CHECK(stack[1] == "0x11A4: build_index(Scene const&) (/src/index.cc:212)");
  CHECK(stack[2] == "0x113F: main (/src/main.cc:31)");
  CHECK(stack[3] == "0x2724A: __libc_start_call_main (in /usr/lib/x86_64-linux-gnu/libc.so.6)");
  CHECK(profile.frames[profile.nodes[profile.devices[0].sites[0].node].frame].inlined);
}

TEST_CASE("sites that read alike are one, and its maximum is marked as a bound") {
  const Profile profile = test::assembled(test::small_sample());
  const Site& site = profile.devices[0].sites[0];
  CHECK(site.numbers.total_bytes == 4096 + 8000);
  CHECK(site.numbers.total_blocks == 2);
  CHECK(site.numbers.peak_bytes == 8000);
  CHECK(site.max_is_bound);
  CHECK(site.numbers.max_bytes == profile.devices[0].totals.peak_bytes);  // less than 4096 + 8000
  CHECK_FALSE(profile.devices[0].sites[1].max_is_bound);
}

TEST_CASE("a module that was loaded twice is one module") {
  CHECK(test::assembled(test::small_sample()).modules.size() == 3);
}

TEST_CASE("a site without a stack keeps node 0") {
  const Profile profile = test::assembled(test::small_sample());
  const auto& sites = profile.devices[0].sites;
  const auto found = std::find_if(sites.begin(), sites.end(), [](const Site& site) { return site.node == 0; });
  REQUIRE(found != sites.end());
  CHECK(found->numbers.total_bytes == 77);
  CHECK(found->numbers.temporary_blocks == 1);
}

TEST_CASE("sites are ordered by peak, then total, then stack") {
  const Profile profile = test::assembled(test::random_sample({3, 3000, 10, 50}));
  const auto& sites = profile.devices[0].sites;
  for (size_t i = 1; i < sites.size(); ++i) {
    const SizedNumbers& a = sites[i - 1].numbers;
    const SizedNumbers& b = sites[i].numbers;
    CHECK((a.peak_bytes > b.peak_bytes || (a.peak_bytes == b.peak_bytes && a.total_bytes >= b.total_bytes)));
  }
}

TEST_CASE("the order in which stacks were met does not show") {
  test::Sample sample = test::random_sample({4, 400, 8, 60});
  const Profile expected = test::assembled(sample);
  // The same recording, met backwards: sites reversed, and every stack as a path of its own.
  Recording& r = sample.recording;
  const std::vector<StackNode> old = r.stacks;
  r.stacks.assign(1, {});
  std::reverse(r.devices[0].sites.begin(), r.devices[0].sites.end());
  for (RecordedSite& site : r.devices[0].sites) {
    std::vector<uint32_t> path;
    for (uint32_t at = site.stack; at != 0; at = old[at].parent) path.push_back(old[at].location);
    uint32_t node = 0;
    for (auto location = path.rbegin(); location != path.rend(); ++location) {
      r.stacks.push_back({node, *location});
      node = static_cast<uint32_t>(r.stacks.size() - 1);
    }
    site.stack = node;
  }
  const Profile actual = test::assembled(sample);
  REQUIRE(actual.frames.size() == expected.frames.size());
  REQUIRE(actual.devices[0].sites.size() == expected.devices[0].sites.size());
  for (size_t i = 0; i < actual.devices[0].sites.size(); ++i) {
    CHECK(actual.devices[0].sites[i].node == expected.devices[0].sites[i].node);
    CHECK(actual.devices[0].sites[i].numbers.lifetime_ns == expected.devices[0].sites[i].numbers.lifetime_ns);
  }
  for (size_t i = 0; i < actual.nodes.size(); ++i) CHECK(actual.nodes[i].frame == expected.nodes[i].frame);
  for (size_t i = 0; i < actual.frames.size(); ++i)
    CHECK(frame_text(actual, actual.frames[i]) == frame_text(expected, expected.frames[i]));
}

TEST_CASE("canonical form stays as it is") {
  Profile profile = test::assembled(test::random_sample({5, 2000, 12, 100}));
  const Profile before = profile;
  canonicalize(&profile);
  REQUIRE(profile.nodes.size() == before.nodes.size());
  REQUIRE(profile.devices[0].sites.size() == before.devices[0].sites.size());
  for (size_t i = 0; i < before.nodes.size(); ++i) {
    CHECK(profile.nodes[i].parent == before.nodes[i].parent);
    CHECK(profile.nodes[i].frame == before.nodes[i].frame);
  }
  for (size_t i = 0; i < before.devices[0].sites.size(); ++i)
    CHECK(profile.devices[0].sites[i].node == before.devices[0].sites[i].node);
}

TEST_CASE("every random recording keeps the invariants") {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const std::vector<std::string> violations =
        find_violations(test::assembled(test::random_sample({seed, 300, 12, 25})));
    INFO("seed " << seed << ": " << (violations.empty() ? "" : violations[0]));
    CHECK(violations.empty());
  }
}

TEST_CASE("a damaged recording makes stacks of none, not a crash") {
  test::Sample sample = test::small_sample();
  sample.recording.stacks[3].parent = 99;
  sample.recording.stacks[6].location = 99;
  sample.recording.devices[0].sites[3].stack = 4'000'000'000;
  sample.recording.locations[1].module = 77;
  sample.symbols.frames.resize(2);
  const Profile profile = test::assembled(sample);
  CHECK(find_violations(profile).empty());
}

TEST_CASE("an empty recording is an empty profile") {
  const Profile profile = assemble(Recording{}, SymbolTable{});
  CHECK(profile.devices.empty());
  CHECK(profile.nodes.size() == 1);
}

TEST_CASE("names lose their control characters before they are compared") {
  test::Sample sample = test::small_sample();
  sample.symbols.frames[0][0].function = "ma\x1bin";
  sample.symbols.frames[4][0].function = "ma\\x1bin";  // reads the same
  const Profile profile = test::assembled(sample);
  CHECK(find_violations(profile).empty());
  CHECK(stack_of(profile, profile.devices[0].sites[0].node)[2] == "0x113F: ma\\x1bin (/src/main.cc:31)");
}
