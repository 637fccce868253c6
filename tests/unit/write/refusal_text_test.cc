// tests/unit/write/refusal_text_test.cc: which refusal of a device or a limit is shown in full, and what is said of the
// others.
#include "cli/model/analysis/places.h"
#include "cli/write/report/report_sections.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

#include <string>

using namespace heapprof::cli;
using heapprof::test::scene_profile;

namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kMib = 1 << 20;

// A stack that was refused so often, from the first to the last of these times.
Refusal refused(uint64_t mib, uint64_t count, uint64_t first_ms, uint64_t last_ms) {
  Refusal refusal;
  refusal.count = count;
  refusal.first_ns = first_ms * kMs;
  refusal.last_ns = last_ms * kMs;
  refusal.size_bytes = mib * kMib;
  return refusal;
}

std::string text_of(std::vector<Refusal> refusals, bool is_by_limit, size_t most = 1) {
  Profile profile = scene_profile();
  profile.time_unit = "ns";
  Device& device = profile.devices[0];
  device.refusals = std::move(refusals);
  for (Refusal& refusal : device.refusals) refusal.by_limit_count = is_by_limit ? refusal.count : 0;
  if (is_by_limit) device.limit_bytes = 4 * kMib;
  const PlaceTree tree = build_place_tree(profile);
  return refusal_text(profile, tree, FrameNames(profile, tree), device, {most, 2, 80});
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a limit was met at the first refusal, and the others came after") {
  const std::string text =
      text_of({refused(5, 1, 1500, 1500), refused(2, 1, 1000, 1000), refused(3, 1, 503, 503)}, true);
  CHECK(contains(text, "host came to its limit of 4.00 MiB at 503 ms: 3.00 MiB asked for; the program held"));
  CHECK(contains(text, "\n  and 2 refused elsewhere after\n"));
  const std::string all =
      text_of({refused(5, 1, 1500, 1500), refused(2, 1, 1000, 1000), refused(3, 1, 503, 503)}, true, 3);
  CHECK(all.find("at 503 ms") < all.find("at 1.000 s"));
  CHECK(all.find("at 1.000 s") < all.find("at 1.500 s"));
  CHECK_FALSE(contains(all, "elsewhere"));
}

TEST_CASE("of a stack that a limit refused several times the numbers are those of the last time") {
  const std::string text = text_of({refused(3, 4, 503, 1500), refused(2, 1, 1000, 1000)}, true);
  CHECK(contains(text, "came to its limit of 4.00 MiB at 503 ms, the last time at 1.500 s: 3.00 MiB asked for"));
  CHECK(contains(text, "\n  and 1 refused elsewhere after\n"));
}

TEST_CASE("refusals without a stack are counted, and are never the first") {
  Refusal others;
  others.count = 7;
  const std::string text = text_of({refused(3, 1, 503, 503), others}, true);
  CHECK(contains(text, "at 503 ms: 3.00 MiB asked for"));
  CHECK(contains(text, "\n  and 7 refused elsewhere after\n"));
}

TEST_CASE("a device without memory ended the run with its last refusal") {
  const std::string text = text_of({refused(5, 1, 1500, 1500), refused(3, 2, 503, 1000)}, false);
  CHECK(contains(text, "host ran out of memory at 1.500 s: 5.00 MiB asked for"));
  CHECK(contains(text, "\n  and 2 refused elsewhere before\n"));
}
