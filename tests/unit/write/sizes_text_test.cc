// tests/unit/write/sizes_text_test.cc: the sizes of a place's blocks in words: all there is room for, and never a wrong
// one.
#include "cli/write/report/sizes_text.h"

#include "cli/base/text.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

PlaceNumbers of_sizes(std::initializer_list<std::pair<uint64_t, uint64_t>> blocks_of_size) {
  PlaceNumbers numbers;
  for (const auto& [size_bytes, blocks] : blocks_of_size) {
    SiteNumbers one;
    one.total_blocks = blocks;
    one.total_bytes = size_bytes * blocks;
    one.smallest_bytes = one.largest_bytes = size_bytes;
    one.sizes[static_cast<size_t>(size_bucket(size_bytes))] = blocks;
    Site site;
    site.numbers = one;
    numbers.add(site);
  }
  return numbers;
}

}  // namespace

TEST_CASE("blocks of one size are said to be so") {
  CHECK(sizes_text(of_sizes({{64, 1059}}), false, 80) == "blocks of 64 B each");
  CHECK(sizes_text(of_sizes({{72'704, 1}}), false, 80) == "one block of 71.0 KiB");
  CHECK(sizes_text(of_sizes({{72'704, 1}}), true, 80) == "one block of 72,704 B");
  CHECK(sizes_text(of_sizes({{0, 3}}), false, 80) == "blocks of 0 B each");
}

TEST_CASE("sizes of one class are a range, those of several are counted by class") {
  CHECK(sizes_text(of_sizes({{17, 5}, {60, 1}}), false, 80) == "blocks of 17 B to 60 B");
  const PlaceNumbers numbers = of_sizes({{16, 812}, {200, 7}, {uint64_t{40} << 20, 2}});
  CHECK(sizes_text(numbers, false, 80) == "blocks of 16 B to 40.0 MiB: 812 to 16 B, 7 to 256 B, 2 above");
}

TEST_CASE("where not all classes fit the rarest go first, and something says so") {
  const PlaceNumbers numbers = of_sizes({{16, 812}, {200, 7}, {5000, 90}, {uint64_t{40} << 20, 2}});
  for (size_t columns = 0; columns < 100; ++columns) {
    const std::string text = sizes_text(numbers, false, columns);
    INFO(columns << " " << text);
    CHECK(text.starts_with(columns < 26 ? "16 B to 40.0 MiB" : "blocks of 16 B to 40.0 MiB"));
    if (columns >= 16) CHECK(display_width(text) <= columns);
    if (text.find("above") == std::string::npos && text.find(':') != std::string::npos) CHECK(text.ends_with("…"));
  }
  CHECK(sizes_text(numbers, false, 70) == "blocks of 16 B to 40.0 MiB: 812 to 16 B, 7 to 256 B, 90 to 16.0 KiB, …");
}

TEST_CASE("sizes that are not known are not made up") {
  PlaceNumbers numbers;
  numbers.total_blocks = 2;
  numbers.total_bytes = 10;
  CHECK(sizes_text(numbers, false, 80).empty());
  CHECK(sizes_text(PlaceNumbers{}, false, 80).empty());
}
