// tests/unit/model/run_counters_test.cc: every counter of a run is explained in the manual, and reaches who reads a
// report if it must.
#include "cli/model/analysis/warnings.h"
#include "cli/model/compare/merge_profiles.h"
#include "tests/support/manual.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

enum Reaches { kFile, kWarning };
struct Counter {
  const char* key;
  uint64_t Counters::*number;
  Reaches reaches;
};
const std::vector<Counter> kCounters = {
#define RUN_COUNTER(member, key, reaches) {key, &Counters::member, reaches},
#include "cli/model/profile/run_counters.def"
#undef RUN_COUNTER
};
const std::vector<std::string> kOtherKeys = {
#define UNWINDER_COUNTER(member, key) key,
#define RUN_COST(member, key, adds) key,
#include "cli/model/profile/run_counters.def"
#undef RUN_COST
#undef UNWINDER_COUNTER
};

}  // namespace

TEST_CASE("each counter of a run is explained in the page of the format") {
  const std::string page = manual_page("heapprof-format.5");
  for (const Counter& it : kCounters) {
    INFO(it.key);
    CHECK(explains(page, it.key));
  }
  for (const std::string& key : kOtherKeys) {
    INFO(key);
    CHECK(explains(page, key));
  }
  CHECK_FALSE(explains(page, "no_such_count"));
}

TEST_CASE("a counter gives a warning with every report if its line says so, and none otherwise") {
  for (const Counter& it : kCounters) {
    Profile profile = scene_profile();
    REQUIRE(find_warnings(profile).empty());
    profile.run.counters.*it.number += 1;
    INFO(it.key);
    CHECK(find_warnings(profile).size() == (it.reaches == kWarning ? 1 : 0));
  }
}

TEST_CASE("each counter of a merged profile is the sum") {
  for (const Counter& it : kCounters) {
    INFO(it.key);
    ProfileMerger merger;
    for (const uint64_t value : {3, 4}) {
      Profile profile = scene_profile();
      profile.run.counters.*it.number = value;
      REQUIRE(merger.add(std::move(profile), "p.json"));
    }
    CHECK(merger.take().run.counters.*it.number == 7);
  }
}
