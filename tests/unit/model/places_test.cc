// tests/unit/model/places_test.cc: which sites are one place, and whose callers are shown.
#include "cli/model/analysis/places.h"

#include "tests/support/sample_profile.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

#include <map>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

const Place* find_function(const Profile& profile, const std::vector<Place>& places, const std::string& start) {
  for (const Place& place : places) {
    if (place.has_frame && profile.frames[place.frame].function.rfind(start, 0) == 0) return &place;
  }
  return nullptr;
}

std::vector<std::string> caller_names(const Profile& profile, const CallerChain& chain) {
  std::vector<std::string> names;
  for (const uint32_t frame : chain.frames) names.push_back(profile.frames[frame].function);
  return names;
}

}  // namespace

TEST_CASE("sites that reach one line by several callers are one place") {
  const Profile profile = scene_profile();
  const PlaceTree tree = build_place_tree(profile);
  const std::vector<Place> places = find_places(profile, tree, profile.devices[0]);
  const Place* intern = find_function(profile, places, "intern");
  REQUIRE(intern != nullptr);
  CHECK(intern->sites.size() == 3);
  CHECK(intern->numbers.peak_bytes == 90 * kMiB);
  // Three callers with a third each.
  const CallerChain chain = find_callers(profile, tree, profile.devices[0], *intern, Metric::kPeak);
  CHECK(chain.frames.empty());
  REQUIRE(chain.shares.size() == 3);
  for (const CallerShare& share : chain.shares) CHECK(share.weight == 30 * kMiB);
  CHECK(chain.weight == 90 * kMiB);
}

TEST_CASE("the dominant callers are the user's own") {
  const Profile profile = scene_profile();
  const PlaceTree tree = build_place_tree(profile);
  const std::vector<Place> places = find_places(profile, tree, profile.devices[0]);
  const Place* index = find_function(profile, places, "build_index");
  REQUIRE(index != nullptr);
  CHECK(caller_names(profile, find_callers(profile, tree, profile.devices[0], *index, Metric::kPeak)) ==
        std::vector<std::string>{"load_scene(Scene const&)", "main"});
  CHECK(largest_stack(profile, profile.devices[0], *index, Metric::kPeak).size() == 5);
}

TEST_CASE("a chain of callers is true for all of a place, and shares are what goes through each") {
  for (const Profile& profile : {scene_profile(), assembled(small_sample()), assembled(random_sample({}))}) {
    const PlaceTree tree = build_place_tree(profile);
    const auto function = [&](uint32_t node) { return tree.functions[profile.nodes[node].frame]; };
    for (const Device& device : profile.devices) {
      for (const Place& place : find_places(profile, tree, device)) {
        const CallerChain chain = find_callers(profile, tree, device, place, Metric::kPeak);
        uint64_t all = 0;
        std::map<uint32_t, uint64_t> shares;  // by function, of what stands outside of the chain
        for (const uint32_t site : place.sites) {
          const uint64_t weight = device.sites[site].numbers.peak_bytes;
          if (weight == 0) continue;
          all += weight;
          uint32_t node = tree.place_node[device.sites[site].node];
          const auto step = [&] {
            const uint32_t callee = node;
            while (node != 0 && function(node) == function(callee)) node = tree.user_node[profile.nodes[node].parent];
          };
          for (const uint32_t frame : chain.frames) {
            step();
            REQUIRE(node != 0);
            CHECK(function(node) == tree.functions[frame]);
          }
          step();
          if (node != 0) shares[function(node)] += weight;
        }
        CHECK(chain.weight == all);
        CHECK(chain.shares.size() == shares.size());
        for (const CallerShare& share : chain.shares) CHECK(shares[tree.functions[share.frame]] == share.weight);
      }
    }
  }
}

TEST_CASE("the sums over places are the device's totals") {
  for (const Profile& profile : {scene_profile(), assembled(small_sample()), assembled(random_sample({}))}) {
    const PlaceTree tree = build_place_tree(profile);
    for (const Device& device : profile.devices) {
      PlaceNumbers sum;
      size_t sites = 0;
      for (const Place& place : find_places(profile, tree, device)) {
        sum.peak_bytes += place.numbers.peak_bytes;
        sum.leaked_bytes += place.numbers.leaked_bytes;
        sum.total_blocks += place.numbers.total_blocks;
        sites += place.sites.size();
      }
      CHECK(sum.peak_bytes == device.totals.peak_bytes);
      CHECK(sum.leaked_bytes == device.totals.leaked_bytes);
      CHECK(sum.total_blocks == device.totals.total_blocks);
      CHECK(sites == device.sites.size());
    }
  }
}

TEST_CASE("ranks leave out what has none of the metric") {
  const Profile profile = scene_profile();
  const PlaceTree tree = build_place_tree(profile);
  const std::vector<Place> places = find_places(profile, tree, profile.devices[0]);
  const std::vector<uint32_t> leaked = rank_places(places, Metric::kLeaked);
  REQUIRE(leaked.size() == 1);
  CHECK(profile.frames[places[leaked[0]].frame].function == "leak_cache");
  CHECK(rank_all_places(places, Metric::kLeaked).size() == places.size());
}

TEST_CASE("a site without a stack is a place of its own") {
  const Profile profile = scene_profile();
  const std::vector<Place> places = find_places(profile, build_place_tree(profile), profile.devices[0]);
  CHECK(std::count_if(places.begin(), places.end(), [](const Place& place) { return !place.has_frame; }) == 1);
}
