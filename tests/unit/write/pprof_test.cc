// tests/unit/write/pprof_test.cc: the protobuf holds what pprof's own reader checks, and the profile's stacks and sums.
#include "cli/write/export/pprof.h"

#include "tests/support/decoded_pprof.h"
#include "tests/support/golden.h"
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

namespace {

test::DecodedPprof decoded_go_heap(const std::vector<GoHeapPart>& parts, const GoHeapView& view = {}) {
  StringSink sink;
  write_go_heap(parts, view, &sink);
  const bool is_interval =
      std::any_of(parts.begin(), parts.end(), [](const GoHeapPart& part) { return part.is_subtracted; });
  return test::DecodedPprof(test::unpacked(sink.text()), is_interval);
}

test::StackSums twice(test::StackSums sums) {
  for (auto& [stack, sum] : sums) sum *= 2;
  return sums;
}

}  // namespace

TEST_CASE("a heap as Go serves it has Go's four types, in Go's order, and the profile's sums") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Profile profile = test::nasty_profile(seed, seed % 2 == 0);
    for (const Device& device : profile.devices) {
      CAPTURE(seed, device.name);
      const test::DecodedPprof decoded = decoded_go_heap({{&profile, &device, {{"pid", "7"}}}});
      CHECK((decoded.types == std::vector<std::string>{"alloc_objects/count", "alloc_space/bytes",
                                                       "inuse_objects/count", "inuse_space/bytes"}));
      CHECK(decoded.default_type == "inuse_space");
      CHECK((decoded.sums("alloc_objects/count") == test::stack_sums(profile, device, Metric::kAllocations)));
      CHECK((decoded.sums("alloc_space/bytes") == test::stack_sums(profile, device, Metric::kTotal)));
      CHECK((decoded.sums("inuse_space/bytes") == test::stack_sums(profile, device, Metric::kLeaked)));
      for (const test::PprofSample& sample : decoded.samples)
        CHECK((sample.labels == std::vector<std::string>{"device", device.name, "pid", "7"}));
    }
  }
}

TEST_CASE("two processes of one program share locations, and their labels tell them apart") {
  const Profile profile = test::nasty_profile(3, true);
  const Device& host = profile.devices.front();
  const test::DecodedPprof one = decoded_go_heap({{&profile, &host, {{"pid", "7"}}}});
  const test::DecodedPprof two =
      decoded_go_heap({{&profile, &host, {{"pid", "7"}}}, {&profile, &host, {{"pid", "8"}}}}, {true, 0, 0, {}});
  CHECK(two.default_type == "alloc_space");
  CHECK(two.locations.size() == one.locations.size());
  CHECK(two.functions.size() == one.functions.size());
  CHECK(two.mappings.size() == one.mappings.size());
  CHECK(two.samples.size() == 2 * one.samples.size());
  CHECK((two.sums("alloc_space/bytes") == twice(one.sums("alloc_space/bytes"))));
  const test::DecodedPprof same = decoded_go_heap({{&profile, &host, {}}, {&profile, &host, {}}});
  CHECK(same.samples.size() <= one.samples.size());
  CHECK((same.sums("alloc_space/bytes") == twice(one.sums("alloc_space/bytes"))));
}

TEST_CASE("an interval is the end less the begin: what did not change is left out, what was freed is negative") {
  const Profile profile = test::assembled(test::small_sample());
  const Device& host = profile.devices.front();
  CHECK(decoded_go_heap({{&profile, &host, {}}, {&profile, &host, {}, true}}).samples.empty());
  Profile later = profile;
  SiteNumbers& numbers = later.devices.front().sites.front().numbers;
  numbers.total_bytes += 1000;
  numbers.total_blocks += 2;
  const uint64_t live_bytes = numbers.leaked_bytes;
  numbers.leaked_bytes = 0;
  const test::DecodedPprof decoded =
      decoded_go_heap({{&later, &later.devices.front(), {}}, {&profile, &host, {}, true}});
  REQUIRE(decoded.samples.size() == 1);
  CHECK((decoded.samples[0].values == std::vector<int64_t>{2, 1000, 0, -static_cast<int64_t>(live_bytes)}));
}

TEST_CASE("a function that one part needs is dropped in no part") {
  Profile one = test::assembled(test::small_sample());
  const std::string dropped = decoded_go_heap({{&one, &one.devices.front(), {}}}).dropped;
  REQUIRE_FALSE(dropped.empty());
  CHECK(decoded_go_heap({{&one, &one.devices.front(), {}}, {&one, &one.devices.front(), {}}}).dropped == dropped);
  // In the other one each function that was dropped is the program's own.
  Profile other = one;
  for (Frame& frame : other.frames) {
    frame.file = "/src/own.cc";
    frame.module = 0;
  }
  const std::string both =
      decoded_go_heap({{&one, &one.devices.front(), {}}, {&other, &other.devices.front(), {}}}).dropped;
  CHECK(both == decoded_go_heap({{&other, &other.devices.front(), {}}}).dropped);
}

TEST_CASE("the text of a heap has its sums, and a stack in the order of what is live") {
  const Profile profile = test::assembled(test::small_sample());
  StringSink sink;
  const GoHeapPart part{&profile, &profile.devices.front(), {{"pid", "7"}}};
  write_go_heap_text({&part, 1}, &sink);
  test::check_golden("export/small.go_heap.txt", sink.text());
}
