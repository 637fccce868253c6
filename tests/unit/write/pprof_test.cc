// tests/unit/write/pprof_test.cc: the protobuf holds what pprof's own reader checks, and the profile's stacks and sums.
#include "cli/write/export/pprof.h"

#include "tests/support/decoded_pprof.h"
#include "tests/support/nasty_profile.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace heapprof;
using namespace heapprof::cli;

TEST_CASE("pprof's samples read back as the profile's stacks, whatever the names") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Profile profile = test::nasty_profile(seed, seed % 2 == 0);
    for (const Device& device : profile.devices) {
      CAPTURE(seed, device.name);
      const test::DecodedPprof decoded = test::decoded_pprof(profile, {device.name, {}});
      CHECK((decoded.sums("alloc_objects/count") == test::stack_sums(profile, device, Metric::kAllocations)));
      CHECK((decoded.sums("alloc_space/bytes") == test::stack_sums(profile, device, Metric::kTotal)));
      CHECK((decoded.sums("inuse_space/bytes") == test::stack_sums(profile, device, Metric::kLeaked)));
      CHECK((decoded.sums("peak_space/bytes") == test::stack_sums(profile, device, Metric::kPeak)));
      CHECK((decoded.sums("temporary_objects/count") == test::stack_sums(profile, device, Metric::kTemporary)));
    }
  }
}

TEST_CASE("what threads allocated stands in the comments of the host's file") {
  Profile profile = test::assembled(test::small_sample());
  profile.run.threads = {{7, "worker", 12, 1 << 20, 3}};
  const auto has_comment = [](const test::DecodedPprof& decoded) {
    return std::count(decoded.strings.begin(), decoded.strings.end(), "thread 7 worker: 1.00 MiB in 12 allocations");
  };
  CHECK(has_comment(test::decoded_pprof(profile, {})) == 1);
  CHECK(has_comment(test::decoded_pprof(profile, {"cuda:0", {}})) == 0);
}

TEST_CASE("an inlined function is a line of its caller's location, the innermost first") {
  const Profile profile = test::assembled(test::small_sample());
  const test::DecodedPprof decoded = test::decoded_pprof(profile, {});
  bool is_there = false;
  for (const auto& [id, location] : decoded.locations) {
    if (location.lines.size() < 2) continue;
    REQUIRE(location.lines.size() == 2);
    CHECK(decoded.functions.at(location.lines[0].first).first.find("std::vector<int") == 0);
    CHECK(location.lines[0].second == 1287);
    CHECK(decoded.functions.at(location.lines[1].first) ==
          std::pair<std::string, std::string>("build_index(Scene const&)", "/src/index.cc"));
    CHECK(location.lines[1].second == 212);
    is_there = true;
  }
  CHECK(is_there);
}

TEST_CASE("the executable is the first mapping, with its build id, and nothing is left to look up") {
  Profile profile = test::assembled(test::small_sample());
  std::swap(profile.modules[0], profile.modules[1]);
  for (Frame& frame : profile.frames) {
    if (frame.module < 2) frame.module = 1 - frame.module;
  }
  const test::DecodedPprof decoded = test::decoded_pprof(profile, {});
  REQUIRE(decoded.mappings.size() >= 2);
  CHECK(decoded.mappings[0].second.file == "/opt/app/render");
  CHECK(decoded.mappings[0].second.build_id == "c0ffee");
  CHECK(decoded.period == 1);
}

TEST_CASE("pprof shows the peak first, or what is asked for") {
  Profile profile = test::assembled(test::small_sample());
  CHECK(test::decoded_pprof(profile, {}).default_type == "peak_space");
  CHECK(test::decoded_pprof(profile, {"", Metric::kAllocations}).default_type == "alloc_objects");
  CHECK(test::decoded_pprof(profile, {"", Metric::kLeaked}).default_type == "inuse_space");
  profile.has_lifetimes = false;
  profile.dialect = Dialect::kDhatRs;
  CHECK(test::decoded_pprof(profile, {}).types == std::vector<std::string>{"alloc_objects/count", "alloc_space/bytes"});
  CHECK(test::decoded_pprof(profile, {}).default_type == "alloc_space");
}

TEST_CASE("equal profiles give equal pprof files") {
  StringSink first;
  StringSink second;
  write_pprof(test::nasty_profile(3, true), {}, &first);
  write_pprof(test::nasty_profile(3, true), {}, &second);
  CHECK(first.text() == second.text());
}
