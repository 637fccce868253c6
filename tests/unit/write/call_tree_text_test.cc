// tests/unit/write/call_tree_text_test.cc: the lines below a line sum up to it.
#include "cli/write/report/report_sections.h"
#include "tests/support/finding_scene.h"

#include <catch2/catch.hpp>

using namespace heapprof;
using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

std::string tree_of(Scene& scene) {
  const Profile& profile = scene.profile();
  const PlaceTree places = build_place_tree(profile);
  return render_call_tree(profile, places, FrameNames(profile, places), profile.devices[0], {}, Metric::kPeak, 80);
}

}  // namespace

TEST_CASE("what a function asked for itself has a line beside those for what it called, by size") {
  const Step handle_itself{"handle", "tree.c", 7};
  const Step handle_calls{"handle", "tree.c", 8};
  const Step parse{"parse", "tree.c", 5};
  Scene scene;
  scene.add({handle_itself, kMain}, blocks(100, 819'200));
  scene.add({parse, handle_calls, kMain}, blocks(100, 204'800));
  std::string text = tree_of(scene);
  const size_t itself = text.find("78.1 MiB   80.0 %   ├ (itself)  tree.c:7\n");
  const size_t callee = text.find("19.5 MiB   20.0 %   └ parse  tree.c:5\n");
  REQUIRE(itself != std::string::npos);
  CHECK(callee > itself);
  CHECK(callee != std::string::npos);
  // A second line of its own: then the file stands there. What is below 1 % is counted with the others.
  scene.add({{"handle", "tree.c", 9}, kMain}, blocks(1, 819'200));
  CHECK(tree_of(scene).find("(itself)  tree.c\n") != std::string::npos);
  Scene small;
  small.add({{"handle", "tree.c", 7}, kMain}, blocks(1, 100));
  small.add({parse, handle_calls, kMain}, blocks(100, 204'800));
  text = tree_of(small);
  CHECK(text.find("(itself)") == std::string::npos);
  CHECK(text.find("1 other below 1 %") != std::string::npos);
  // Without callees that have some of it there is nothing to tell apart.
  Scene alone;
  alone.add({handle_itself, kMain}, blocks(100, 819'200));
  CHECK(tree_of(alone).find("(itself)") == std::string::npos);
}

TEST_CASE("a profile without a frame has a tree, and sums beyond 2^64 stop there") {
  Scene stackless;
  stackless.add({}, blocks(1, 4096));
  REQUIRE(stackless.profile().frames.empty());
  CHECK(tree_of(stackless).find("[no stack]") != std::string::npos);
  Scene large;
  large.add({{"first", "a.c", 1}, kMain}, blocks(1, uint64_t{1} << 63));
  large.add({{"second", "a.c", 2}, kMain}, blocks(1, uint64_t{1} << 63));
  const std::string text = tree_of(large);
  CHECK(text.find("first") != std::string::npos);
  CHECK(text.find("second") != std::string::npos);
}
