// tests/unit/model/diff_line_test.cc: which line of a function is blamed for its growth, when others have moved.
#include "cli/model/compare/diff.h"
#include "tests/support/finding_scene.h"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

using Amounts = std::vector<std::pair<uint32_t, uint64_t>>;  // of the lines of one function: KiB

Profile profile_of(const Amounts& lines, const std::string& function = "load()") {
  Scene scene;
  for (const auto& [line, kib] : lines) scene.add({{function, "/src/load.cc", line}, kMain}, blocks(kib, 1024));
  return scene.profile();
}

// The line of that side that is blamed for the change of load().
uint32_t blamed(const Amounts& before, const Amounts& now, Side side = kCurrent) {
  const Profile base = profile_of(before);
  const Profile current = profile_of(now);
  const ProfileDiff diff = diff_profiles(base, current);
  const std::vector<ChangedFrame> frames =
      find_changed_frames({&base, &current}, diff.trees, diff.devices[0], Metric::kPeak);
  REQUIRE(frames.size() == diff.devices[0].places.size());
  REQUIRE(frames.size() == 1);
  REQUIRE(frames[0].side == side);
  return (side == kBase ? base : current).frames[frames[0].frame].line;
}

}  // namespace

TEST_CASE("the line that gained most is blamed, not the one that has most") {
  CHECK(blamed({{93, 800}, {99, 20}}, {{93, 800}, {99, 200}}) == 99);
  CHECK(blamed({{93, 800}, {99, 20}}, {{93, 900}, {99, 30}}) == 93);
}

TEST_CASE("lines that only moved are not blamed") {
  CHECK(blamed({{14, 8192}, {15, 1024}, {17, 384}, {18, 1}}, {{14, 8192}, {15, 1024}, {17, 1}, {20, 768}, {21, 1}}) ==
        20);
  CHECK(blamed({{10, 500}, {20, 500}}, {{110, 500}, {120, 700}}) == 120);
  CHECK(blamed({{10, 500}, {20, 500}}, {{13, 700}, {23, 500}}) == 13);
}

TEST_CASE("a line that is new has gained all that it has") {
  CHECK(blamed({{10, 500}}, {{10, 500}, {11, 300}}) == 11);
  CHECK(blamed({{10, 500}}, {{12, 300}, {13, 500}}) == 12);
  CHECK(blamed({{10, 500}}, {{10, 500}, {15, 600}}) == 15);
  CHECK(blamed({{10, 500}}, {{10, 501}, {15, 990}}) == 15);
  CHECK(blamed({{10, 500}, {20, 100}}, {{10, 500}, {15, 450}, {20, 110}}) == 15);
}

TEST_CASE("lines that are gone are blamed for nothing") {
  CHECK(blamed({{10, 500}, {20, 100}, {30, 50}}, {{20, 100}, {30, 900}}) == 30);
}

TEST_CASE("of a place that shrank, the base's line is named that lost most") {
  CHECK(blamed({{5, 800}, {8, 500}}, {{5, 800}}, kBase) == 8);
  CHECK(blamed({{5, 800}, {7, 500}, {8, 10}}, {{5, 800}, {6, 10}}, kBase) == 7);
  CHECK(blamed({{10, 500}, {20, 100}}, {{10, 300}, {20, 110}}, kBase) == 10);
}

TEST_CASE("of a place that is gone or is new, the line that has most is named") {
  const Profile base = profile_of({{10, 500}, {20, 100}});
  const Profile other = profile_of({{10, 300}, {20, 400}}, "store()");
  const ProfileDiff replaced = diff_profiles(base, other);
  const std::vector<ChangedFrame> frames =
      find_changed_frames({&base, &other}, replaced.trees, replaced.devices[0], Metric::kPeak);
  REQUIRE(frames.size() == 2);
  for (const ChangedFrame& changed : frames) {
    const Frame& frame = (changed.side == kBase ? base : other).frames[changed.frame];
    CHECK(frame.function == (changed.side == kBase ? "load()" : "store()"));
    CHECK(frame.line == (changed.side == kBase ? 10 : 20));
  }
}
