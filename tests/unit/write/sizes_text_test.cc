// tests/unit/write/sizes_text_test.cc: the sizes of a place's blocks as bars: they count every block once, and say no
// size that is not known.
#include "cli/base/text.h"
#include "cli/write/report/report_sections.h"

#include <catch2/catch.hpp>

#include <random>

using namespace heapprof::cli;

namespace {

PlaceNumbers of_sizes(const std::vector<std::pair<uint64_t, uint64_t>>& blocks_of_size) {
  PlaceNumbers numbers;
  for (const auto& [size_bytes, blocks] : blocks_of_size) {
    Site site;
    site.numbers.total_blocks = blocks;
    site.numbers.total_bytes = size_bytes * blocks;
    site.numbers.smallest_bytes = site.numbers.largest_bytes = size_bytes;
    site.numbers.sizes.set(size_bucket(size_bytes), blocks);
    numbers.add(site);
  }
  return numbers;
}

using Lines = std::vector<std::string>;

std::string label_of(const std::string& line) {
  const size_t first = line.find_first_not_of(' ');
  return line.substr(first, line.find("  ", first) - first);
}

}  // namespace

TEST_CASE("blocks of one size are said to be so, and need no bars") {
  CHECK(sizes_lines(of_sizes({{64, 1059}}), {}) == Lines{"1,059 blocks of 64 B each"});
  CHECK(sizes_lines(of_sizes({{72'704, 1}}), {}) == Lines{"1 block of 71.0 KiB"});
  CHECK(sizes_lines(of_sizes({{72'704, 1}}), {true, false, 2, 80}) == Lines{"  1 block of 72,704 B"});
  CHECK(sizes_lines(of_sizes({{0, 3}}), {}) == Lines{"3 blocks of 0 B each"});
}

TEST_CASE("each power of two that has blocks has a bar, by its share") {
  const PlaceNumbers numbers = of_sizes({{16, 50}, {17, 100}, {1025, 1}, {uint64_t{40} << 20, 2}, {~0u, 1}});
  CHECK(sizes_lines(numbers, {false, false, 0, 60}) ==
        Lines{"154 blocks of 16 B to 4.00 GiB", "     9 to 16 B  ████████████████                   50   32 %",
              "    17 to 32 B  ████████████████████████████████  100   65 %",
              "    1 to 2 KiB  ▏                                   1    1 %",
              "  32 to 64 MiB  █                                   2    1 %",
              "   above 1 GiB  ▏                                   1    1 %"});
  CHECK(sizes_lines(of_sizes({{8, 1}, {600, 1}, {700'000, 2}}), {false, false, 0, 20}) ==
        Lines{"4 blocks of 8 B to 684 KiB", "         up to 8 B  1   25 %", "    513 B to 1 KiB  1   25 %",
              "  512 KiB to 1 MiB  2   50 %"});
  CHECK(sizes_lines(of_sizes({{8, 1}, {600, 3}}), {true, false, 0, 60}) ==
        Lines{"4 blocks of 8 B to 600 B", "       up to 8 B  ███████████                       1   25 %",
              "  513 to 1,024 B  ████████████████████████████████  3   75 %"});
}

TEST_CASE("where there are many sizes the rarest share a line, and all blocks are counted") {
  std::mt19937_64 random(8);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::pair<uint64_t, uint64_t>> blocks;
    uint64_t all = 0;
    for (uint64_t i = 0; i <= random() % 12; ++i) {
      blocks.emplace_back(random() >> (random() % 64), 1 + random() % 900);
      all += blocks.back().second;
    }
    const size_t columns = 30 + random() % 100;
    const Lines lines = sizes_lines(of_sizes(blocks), {false, false, 4, columns});
    CHECK(lines.size() <= 7);
    uint64_t counted = 0;
    for (size_t i = 1; i < lines.size(); ++i) {
      INFO(lines[i]);
      if (columns >= 50) CHECK(display_width(lines[i]) <= columns);
      const size_t percent = lines[i].find_last_not_of(' ', lines[i].rfind('%') - 1);
      const size_t blank = lines[i].rfind("  ", lines[i].rfind(' ', percent));
      const size_t end = lines[i].find_last_not_of(' ', blank);
      std::string count = lines[i].substr(lines[i].rfind(' ', end) + 1, end - lines[i].rfind(' ', end));
      count.erase(std::remove(count.begin(), count.end(), ','), count.end());
      counted += std::stoull(count);
      if (i + 1 < lines.size()) CHECK(label_of(lines[i]) != "other sizes");
    }
    if (lines.size() > 1) CHECK(counted == all);
  }
}

TEST_CASE("profiles of before have ranges by powers of four") {
  PlaceNumbers numbers = of_sizes({{16, 1}, {64, 1}, {1024, 1}, {uint64_t{5} << 20, 1}, {uint64_t{64} << 20, 1}});
  SizeHistogram coarse;
  for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
    const int into = bucket_of_coarse(coarse_of_bucket(bucket));
    coarse.set(into, coarse[into] + numbers.sizes[bucket]);
  }
  numbers.sizes = coarse;
  const Lines lines = sizes_lines(numbers, {false, true, 0, 80});
  REQUIRE(lines.size() == 6);
  CHECK(label_of(lines[1]) == "up to 16 B");
  CHECK(label_of(lines[2]) == "17 to 64 B");
  CHECK(label_of(lines[3]) == "257 B to 1 KiB");
  CHECK(label_of(lines[4]) == "4 to 16 MiB");
  CHECK(label_of(lines[5]) == "above 16 MiB");
}

TEST_CASE("sizes that are not known are not made up") {
  PlaceNumbers numbers;
  numbers.total_blocks = 2;
  numbers.total_bytes = 10;
  CHECK(sizes_lines(numbers, {}) == Lines{"sizes are not known"});
  numbers.sizes.set(3, 2);
  CHECK(sizes_lines(numbers, {false, false, 0, 60}) ==
        Lines{"2 blocks", "  33 to 64 B  ████████████████████████████████████  2  100 %"});
}
