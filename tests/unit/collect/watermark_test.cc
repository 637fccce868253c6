// tests/unit/collect/watermark_test.cc: up to which stamp everything is known, and whom the order waits for: threads in
// events, slow ones, stuck ones, dead ones.
#include "cli/collect/rings/watermark.h"

#include <catch2/catch.hpp>

namespace heapprof::cli {
namespace {

constexpr uint64_t kPatience = 100'000'000;

bool never() { return false; }

TEST_CASE("a ring outside of an event knows everything up to the round's stamp") {
  RingWatermark ring(kPatience);
  CHECK(ring.observe({1000, 1, 64, 900, false, true}, never) == 1000);
}

TEST_CASE("a ring inside an event holds the watermark at what it said last") {
  RingWatermark ring(kPatience);
  CHECK(ring.observe({1000, 1, 64, 900, true, true}, never) == 900);
}

TEST_CASE("a thread that allocates rarely does not drag the watermark back to its last event") {
  RingWatermark ring(kPatience);
  ring.observe({5000, 1, 64, 900, false, true}, never);
  CHECK(ring.observe({6000, 2, 64, 900, true, true}, never) == 5000);
}

TEST_CASE("records that are not decoded yet hold the watermark") {
  RingWatermark ring(kPatience);
  CHECK(ring.observe({1000, 1, 64, 700, false, false}, never) == 700);
}

TEST_CASE("a thread that is stuck is passed over once its time is up, and counted once") {
  RingWatermark ring(kPatience);
  CHECK(ring.observe({1000, 10, 64, 900, true, true}, never) == 900);
  CHECK(ring.observe({2000, 10 + kPatience - 1, 64, 900, true, true}, never) == 900);
  CHECK(ring.skips() == 0);
  CHECK(ring.observe({3000, 10 + kPatience, 64, 900, true, true}, never) == 3000);
  CHECK(ring.observe({4000, 11 + kPatience, 64, 900, true, true}, never) == 4000);
  CHECK(ring.skips() == 1);
  SECTION("its next event holds again") {
    CHECK(ring.observe({5000, 12 + kPatience, 128, 950, true, true}, never) == 950);
  }
  SECTION("and so it does after having been idle") {
    ring.observe({5000, 12 + kPatience, 64, 900, false, true}, never);
    CHECK(ring.observe({6000, 13 + kPatience, 64, 900, true, true}, never) == 5000);
  }
}

TEST_CASE("a thread that moves on is never passed over") {
  RingWatermark ring(kPatience);
  for (uint64_t i = 1; i < 100; ++i) {
    REQUIRE(ring.observe({1000 + i, i * kPatience, 64 * i, 900 + i, true, true}, never) == 900 + i);
  }
  CHECK(ring.skips() == 0);
}

TEST_CASE("a dead thread is dropped without waiting, and without being counted") {
  RingWatermark ring(kPatience);
  bool is_gone = false;
  int asked = 0;
  const auto ask = [&] {
    ++asked;
    return is_gone;
  };
  uint64_t now_ns = 10;
  CHECK(ring.observe({1000, now_ns, 64, 900, true, true}, ask) == 900);
  CHECK(ring.observe({1000, now_ns + 1, 64, 900, true, true}, ask) == 900);
  CHECK(asked == 0);  // no look at /proc for every short event
  now_ns += RingWatermark::kProbeNs;
  CHECK(ring.observe({1000, now_ns, 64, 900, true, true}, ask) == 900);
  CHECK(asked == 1);
  is_gone = true;
  now_ns += RingWatermark::kProbeNs;
  CHECK(ring.observe({2000, now_ns, 64, 900, true, true}, ask) == 2000);
  CHECK(ring.observe({3000, now_ns + 1, 64, 900, true, true}, ask) == 3000);
  CHECK(asked == 2);
  CHECK(ring.skips() == 0);
}

}  // namespace
}  // namespace heapprof::cli
