// tests/unit/model/python_rows_test.cc: rows of small sites keep the user's own line of a Python program's stacks, so
// that they are placed, and judged, as the sites were.
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/group.h"
#include "cli/model/analysis/python/keeps.h"
#include "cli/model/analysis/python/rows.h"
#include "cli/model/profile/canonical.h"
#include "tests/support/python_scene.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <map>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

const PythonCall kTorch = {"<module>", kSystemSite + "torch/__init__.py", 140};

// So many calls inside of a library, which no two stacks share.
std::vector<PythonCall> deep(int number) {
  std::vector<PythonCall> calls = {kNewDict};
  for (int i = 0; i < 30; ++i)
    calls.push_back(native(fmt::format("f{}_{}", i, i < 2 ? number : 0), kSystemSite + "torch/_C.so"));
  return calls;
}

std::vector<PythonCall> joined(std::vector<PythonCall> calls, const std::vector<PythonCall>& outer) {
  calls.insert(calls.end(), outer.begin(), outer.end());
  return calls;
}

std::map<std::string, uint64_t> places_of(Profile* profile) {
  PlaceTree tree;
  mark_folded({}, profile, &tree);
  std::map<std::string, uint64_t> sums;
  for (const Place& place : find_places(*profile, tree, profile->devices[0]))
    sums[fmt::format("{}:{}", profile->frames[place.frame].function, profile->frames[place.frame].line)] +=
        place.numbers.peak_bytes;
  return sums;
}

PythonScene many_small_sites() {
  PythonScene scene;
  scene.add({kNewDict, kTrain, kMainModule, kEvaluate}, 100'000'000, 10'000'000);
  for (int i = 0; i < 40; ++i) {
    scene.add(joined(deep(i), {kTorch, kFind, kMainModule, kEvaluate, kBytesMain}), 100);
    scene.add(joined(deep(i), {kTrain, kMainModule, kEvaluate, kBytesMain}), 10);
    scene.add(joined({kNewDict, native(fmt::format("g{}", i), kPython)}, {kInitialize, kBytesMain}), 1);
  }
  return scene;
}

std::map<PythonKeep, uint64_t> kept_bytes(const Profile& profile) {
  std::map<PythonKeep, uint64_t> sums;
  const std::vector<PythonKeep> keeps = find_python_keeps(profile, profile.devices[0]);
  for (size_t i = 0; i < keeps.size(); ++i) sums[keeps[i]] += profile.devices[0].sites[i].numbers.leaked_bytes;
  return sums;
}

}  // namespace

TEST_CASE("rows of small sites are placed as the sites were") {
  Profile whole = many_small_sites().take();
  canonicalize(&whole);
  Profile grouped = whole;
  CHECK(group_small_sites(&grouped, {1, 8}) == 120);
  CHECK(grouped.devices[0].sites.size() < whole.devices[0].sites.size() / 2);
  const std::map<PythonKeep, uint64_t> kept = kept_bytes(whole);
  CHECK(kept.at(PythonKeep::kModules) == 4000);
  CHECK(kept.at(PythonKeep::kStart) == 40);
  CHECK(kept_bytes(grouped) == kept);
  const std::map<std::string, uint64_t> places = places_of(&grouped);
  CHECK(places.at("import torch:3") == 4000);
  CHECK(places.at("train:24") == 100'000'400);
}

TEST_CASE("a row keeps nothing besides where it has the user's own line already, and else says what is left out") {
  Profile profile = many_small_sites().take();
  const PythonRows rows(profile);
  std::vector<uint32_t> besides;
  for (const Site& site : profile.devices[0].sites) {
    std::vector<uint32_t> stack;
    for (uint32_t node = site.node; node != 0; node = profile.nodes[node].parent)
      stack.push_back(profile.nodes[node].frame);
    rows.find(stack, stack.size(), &besides);
    CHECK(besides.empty());
    rows.find(stack, 1, &besides);
    CHECK(besides.size() >= 1);
    CHECK(besides.size() <= 4);
  }
}
