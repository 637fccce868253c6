// tests/unit/collect/pace_test.cc: when rings are due to be looked at again.
#include "cli/collect/rings/pace.h"

#include <catch2/catch.hpp>

namespace heapprof::cli {
namespace {

constexpr uint64_t kRoom = 1 << 20;

// Looks at a ring that stands still until the time between two looks is at least so long.
Pace rested(uint64_t now_ns, uint64_t interval_ns) {
  Pace pace;
  for (uint64_t before_ns = 20; before_ns != 0; --before_ns) {
    pace.look(now_ns - before_ns);
    pace.accept();
  }
  pace.look(now_ns);
  pace.accept();
  REQUIRE(pace.next_ns() - now_ns >= interval_ns);
  return pace;
}

TEST_CASE("the next look is when the fullest ring will be a quarter full") {
  Pace pace = rested(1'000'000, 100'000'000);
  pace.look(2'000'000);
  pace.note(kRoom / 16, kRoom);
  pace.note(kRoom / 8, kRoom);
  pace.note(kRoom / 32, kRoom);
  pace.accept();
  CHECK(pace.next_ns() == 4'000'000);  // half as full as it may be in 1 ms
  SECTION("one that fills faster is due sooner") {
    pace.look(4'000'000);
    pace.note(kRoom, kRoom);
    pace.accept();
    CHECK(pace.next_ns() == 4'500'000);
  }
  SECTION("the same bytes are more of a small ring") {
    pace.look(3'000'000);
    pace.note(kRoom / 8, kRoom);
    pace.note(kRoom / 16, kRoom / 4);
    pace.accept();
    CHECK(pace.next_ns() == 4'000'000);
  }
  SECTION("one that stops may go on at any moment: the time between two looks grows by the double") {
    uint64_t now_ns = 4'000'000;
    for (const uint64_t interval_ns : {4'000'000, 8'000'000, 16'000'000}) {
      pace.look(now_ns);
      pace.accept();
      CHECK(pace.next_ns() == now_ns + interval_ns);
      now_ns += interval_ns;
    }
    pace.look(now_ns);
    pace.note(16, kRoom);
    pace.accept();
    CHECK(pace.next_ns() == now_ns + 32'000'000);
  }
}

TEST_CASE("the first looks come soon") {
  Pace pace;
  pace.look(1'000'000'000);
  pace.accept();
  CHECK(pace.next_ns() == 1'000'000'000 + Pace::kFirstIntervalNs);
}

TEST_CASE("a look that comes early and finds little is put off, and counts from the one before") {
  Pace pace;
  pace.look(1'000'000);
  CHECK_FALSE(pace.is_early());  // the first
  pace.accept();
  pace.look(1'100'000);
  pace.note(kRoom / 64, kRoom);
  REQUIRE(pace.is_early());
  pace.put_off();
  CHECK(pace.next_ns() == 2'000'000);  // a quarter full at 2.6 ms
  pace.look(1'999'999);
  pace.note(kRoom / 8 - 1, kRoom);
  CHECK(pace.is_early());
  pace.look(1'999'999);
  pace.note(kRoom / 8, kRoom);
  CHECK_FALSE(pace.is_early());  // there is much
  pace.look(2'000'000);
  pace.note(16, kRoom);
  CHECK_FALSE(pace.is_early());  // it is a while ago
}

TEST_CASE("numbers that no clock and no ring gives do no harm") {
  Pace pace;
  pace.look(UINT64_MAX / 2);
  pace.note(1, UINT64_MAX / 2);
  pace.accept();
  CHECK(pace.next_ns() - UINT64_MAX / 2 <= Pace::kFirstIntervalNs);
  pace.look(0);
  pace.note(UINT64_MAX, 1);
  pace.accept();
  CHECK(pace.next_ns() < UINT64_MAX / 2);
}

}  // namespace
}  // namespace heapprof::cli
