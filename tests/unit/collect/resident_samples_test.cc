// tests/unit/collect/resident_samples_test.cc: which moment explains what was resident at most.
#include "cli/collect/recording_builder.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

TEST_CASE("on a plateau the moment with most live explains the resident set, whatever the order") {
  ResidentSamples rising;
  rising.add(10'000, 6'000, 500);
  rising.add(15'800, 9'900, 500);
  rising.add(15'850, 700, 500);  // the program frees at its end, and no page goes back to the kernel
  CHECK(rising.max_bytes == 15'850);
  CHECK(rising.live_at_max_bytes == 9'900);
  CHECK(rising.mapped_at_max_bytes == 500);

  ResidentSamples late;
  late.add(15'850, 700, 500);
  late.add(15'850, 9'900, 500);  // as much resident, and more of it explained
  late.add(15'800, 10'400, 600);
  late.add(15'800, 3'000, 600);
  CHECK(late.max_bytes == 15'850);
  CHECK(late.explained_bytes == 15'800);
  CHECK(late.live_at_max_bytes == 10'400);
  CHECK(late.mapped_at_max_bytes == 600);
}

TEST_CASE("a moment with clearly less resident explains nothing") {
  ResidentSamples samples;
  samples.add(10'000, 9'000, 0);
  samples.add(16'000, 2'000, 0);
  CHECK(samples.live_at_max_bytes == 2'000);
  samples.add(15'000, 9'000, 0);
  CHECK(samples.max_bytes == 16'000);
  CHECK(samples.live_at_max_bytes == 2'000);
  samples.add(15'500, 2'001, 0);
  CHECK(samples.live_at_max_bytes == 2'001);
}
