// tests/unit/model/named_memory_test.cc: the program's own names of memory in a profile: added up, checked, and told of
// a place whose blocks all have one.
#include "cli/model/profile/named_memory.h"

#include "cli/model/analysis/named_place.h"
#include "cli/model/compare/merge_profiles.h"
#include "cli/model/profile/canonical.h"
#include "cli/model/profile/invariants.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

#include <string>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

NamedSite all_of(const Site& site) {
  const SizedNumbers& numbers = site.numbers;
  return {site.node, numbers.total_bytes, numbers.total_blocks, numbers.leaked_bytes, numbers.leaked_blocks};
}

NamedMemory named(const std::string& name, const NamedSite& site) {
  return {"model",
          name,
          site.total_bytes,
          site.total_blocks,
          site.total_bytes,
          site.total_blocks,
          site.leaked_bytes,
          site.leaked_blocks,
          {site}};
}

}  // namespace

TEST_CASE("names of two runs add up, and those of one text are one") {
  Profile profile = assembled(small_sample());
  const Site& site = profile.devices[0].sites[0];
  profile.devices[0].names = {named("cache", all_of(site)), named("weights", all_of(site))};
  REQUIRE(find_violations(profile).empty());
  ProfileMerger merger;
  REQUIRE(merger.add(profile, "a.json"));
  REQUIRE(merger.add(profile, "b.json"));
  const Profile sum = merger.take();
  CHECK(find_violations(sum).empty());
  REQUIRE(sum.devices[0].names.size() == 2);
  CHECK(sum.devices[0].names[0].max_bytes == 2 * site.numbers.total_bytes);
  REQUIRE(sum.devices[0].names[0].sites.size() == 1);
  CHECK(sum.devices[0].names[0].sites[0].total_blocks == 2 * site.numbers.total_blocks);
}

TEST_CASE("a name whose sites do not sum to it is no sound profile") {
  Profile profile = assembled(small_sample());
  NamedMemory cache = named("cache", all_of(profile.devices[0].sites[0]));
  SECTION("bytes") { ++cache.total_bytes; }
  SECTION("more at the end than at most") { cache.max_bytes = cache.leaked_bytes = 1ull << 60; }
  profile.devices[0].names = {cache};
  CHECK_FALSE(find_violations(profile).empty());
}

TEST_CASE("a place has a name if all of its blocks had that one and no other") {
  Profile profile = assembled(small_sample());
  Device& host = profile.devices[0];
  const PlaceTree tree = build_place_tree(profile);
  const Place place = find_places(profile, tree, host)[0];
  REQUIRE(place.has_frame);
  NamedMemory cache{"", "cache", 0, 0, 0, 0, 0, 0, {}};
  for (const uint32_t site : place.sites) cache.sites.push_back(all_of(host.sites[site]));
  CHECK(find_name_of_place(profile, tree, host, place.frame) == nullptr);
  SECTION("all") {
    host.names = {cache};
    CHECK(find_name_of_place(profile, tree, host, place.frame) == &host.names[0]);
  }
  SECTION("all but one block") {
    --cache.sites[0].total_blocks;
    host.names = {cache};
    CHECK(find_name_of_place(profile, tree, host, place.frame) == nullptr);
  }
  SECTION("one block had another one, too") {
    NamedMemory other = cache;
    other.sites.resize(1);
    other.sites[0].total_blocks = 1;
    host.names = {cache, other};
    CHECK(find_name_of_place(profile, tree, host, place.frame) == nullptr);
  }
}
