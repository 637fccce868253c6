// tests/unit/collect/fragmentation_test.cc: what pages of a heap are used for, by hand and beside an account that
// colours every byte.
#include "cli/collect/fragmentation.h"

#include "tests/support/ledger_books.h"

#include <catch2/catch.hpp>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

constexpr uint64_t kPage = PageOccupancy::kPageBytes;
constexpr uint64_t kHeap = 0x5000'0000'0000;

struct Piece {
  uint64_t address;
  uint64_t size_bytes;
  uint32_t site;
};

HeapPages count(const std::vector<MemoryRange>& ranges, const std::vector<MemoryRange>& present,
                const std::vector<Piece>& blocks) {
  PageOccupancy occupancy(ranges);
  for (const Piece& block : blocks) occupancy.add(block.address, block.size_bytes);
  const std::vector<MemoryRange> used = occupancy.used_ranges();
  for (const MemoryRange& pages : present) {
    const auto has = [&](const MemoryRange& range) { return pages.start >= range.start && pages.end <= range.end; };
    if (std::any_of(used.begin(), used.end(), has)) occupancy.judge(pages);
  }
  for (const Piece& block : blocks) occupancy.pin(block.address, block.size_bytes, block.site);
  return occupancy.result();
}

// The same with a byte for each byte.
HeapPages coloured(const MemoryRange& range, const std::vector<MemoryRange>& present,
                   const std::vector<Piece>& blocks) {
  std::vector<uint32_t> owner(range.end - range.start, 0);  // 1 + index of the block
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    const uint64_t start = blocks[i].address - range.start;
    const uint64_t own_end = start + std::max<uint64_t>(1, blocks[i].size_bytes);
    uint64_t end = std::max<uint64_t>(32, (blocks[i].size_bytes + 8 + 15) / 16 * 16) + start;
    end = std::min({end, (own_end - 1) / kPage * kPage + kPage, range.end - range.start});
    for (uint64_t at = start; at < end; ++at) owner[at] = i + 1;
  }
  HeapPages all;
  std::map<uint32_t, LostPart> parts;
  std::map<uint32_t, uint64_t> share_of;  // by block
  bool was_empty = false;
  for (uint64_t page = range.start; page < range.end; page += kPage) {
    const bool is_there = std::any_of(present.begin(), present.end(),
                                      [&](const MemoryRange& it) { return page >= it.start && page < it.end; });
    if (!is_there) continue;
    std::map<uint32_t, uint64_t> bytes;
    for (uint64_t at = page; at < page + kPage; ++at) ++bytes[owner[at - range.start]];
    const uint64_t free_bytes = bytes[0];
    bytes.erase(0);
    all.resident_bytes += kPage;
    if (bytes.empty()) {
      all.empty_bytes += kPage;
      all.empty_pieces += was_empty ? 0 : 1;
    } else if (free_bytes > kPage / 2) {
      all.sparse_bytes += free_bytes;
      for (const auto& [block, part] : bytes) share_of[block] += free_bytes * part / (kPage - free_bytes);
    }
    was_empty = bytes.empty();
  }
  for (const auto& [block, share] : share_of) {
    LostPart& part = parts[blocks[block - 1].site];
    part.site = blocks[block - 1].site;
    part.bytes += share;
    ++part.blocks;
  }
  for (const auto& [site, part] : parts) {
    if (site != 0) all.pinning.push_back(part);  // 0: of blocks that are in no total
  }
  std::stable_sort(all.pinning.begin(), all.pinning.end(),
                   [](const LostPart& a, const LostPart& b) { return a.bytes > b.bytes; });
  return all;
}

constexpr uint64_t kMega = 1 << 20;
constexpr uint64_t kMs = 1'000'000;

// 16 MiB of this process that are there, apart from other mappings; a block of 64 bytes lies at their start, in books
// that had 64 MiB at the peak and have `live_bytes` more.
class FallenHeap {
 public:
  explicit FallenHeap(uint64_t live_bytes = 0)
      : all_(static_cast<char*>(::mmap(nullptr, 18 * kMega, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(all_ != MAP_FAILED);
    REQUIRE(::mprotect(all_ + kMega, 16 * kMega, PROT_READ | PROT_WRITE) == 0);
    std::memset(all_ + kMega, 1, 16 * kMega);
    books.malloc(1, 1, reinterpret_cast<uint64_t>(all_ + kMega), 64, 7);
    books.malloc(2, 1, 0x1000, live_bytes, 1);  // where this process has nothing
    books.malloc(3, 1, 0x2000, 64 * kMega - live_bytes, 2);
    books.free(4, 1, 0x2000);
  }
  ~FallenHeap() { ::munmap(all_, 18 * kMega); }
  FallenHeap(const FallenHeap&) = delete;
  FallenHeap& operator=(const FallenHeap&) = delete;

  void step(uint64_t at_ms, uint64_t resident_bytes = 100 * kMega) {
    watch.step(at_ms * kMs, resident_bytes, {::getpid(), 0, 0}, &books.ledger);
  }
  // The same, until a look that has begun is done.
  void step_to_end(uint64_t at_ms) {
    const timespec pause{0, 1'000'000};
    for (int i = 0; i < 60'000 && !found(); ++i) {
      step(at_ms);
      ::nanosleep(&pause, nullptr);
    }
  }
  std::optional<FragmentationWatch::Found> found() const { return watch.at_end(books.ledger); }

  test::Books books;
  FragmentationWatch watch;

 private:
  char* all_;
};

void check_equal(const HeapPages& is, const HeapPages& want) {
  CHECK(is.resident_bytes == want.resident_bytes);
  CHECK(is.empty_bytes == want.empty_bytes);
  CHECK(is.empty_pieces == want.empty_pieces);
  CHECK(is.sparse_bytes == want.sparse_bytes);
  CHECK(is.pinning == want.pinning);
}

}  // namespace

TEST_CASE("a page is empty, nearly empty, or in use") {
  const MemoryRange heap{kHeap, kHeap + 8 * kPage};
  // A block of half a page, one of 40 bytes, one of two pages and a bit; pages 5 and 6 have none, page 7 is not there.
  const std::vector<Piece> blocks{
      {kHeap + 16, kPage / 2, 1}, {kHeap + kPage + 64, 40, 2}, {kHeap + 2 * kPage, 2 * kPage + 100, 3}};
  const HeapPages all = count({heap}, {{kHeap, kHeap + 7 * kPage}}, blocks);
  CHECK(all.resident_bytes == 7 * kPage);
  CHECK(all.empty_bytes == 2 * kPage);
  CHECK(all.empty_pieces == 1);
  CHECK(all.sparse_bytes == (kPage - 48) + (kPage - 112));
  REQUIRE(all.pinning.size() == 2);
  CHECK(all.pinning[0] == LostPart{2, kPage - 48, 1});
  CHECK(all.pinning[1] == LostPart{3, kPage - 112, 1});
}

TEST_CASE("a mapping in which no block lies is not the heap's, and blocks outside of all are left out") {
  const MemoryRange heap{kHeap, kHeap + 2 * kPage};
  const MemoryRange other{kHeap + 16 * kPage, kHeap + 20 * kPage};
  const HeapPages all = count({heap, other}, {heap, other}, {{kHeap, 16, 1}, {kHeap + 40 * kPage, 16, 1}, {1, 1, 1}});
  CHECK(all.resident_bytes == 2 * kPage);
  CHECK(all.empty_bytes == kPage);
}

TEST_CASE("sizes that no block can have end with the mapping") {
  const MemoryRange heap{kHeap, kHeap + 4 * kPage};
  const HeapPages all = count({heap}, {heap}, {{kHeap + kPage, UINT64_MAX, 1}, {kHeap + 16, UINT64_MAX - 40, 1}});
  CHECK(all.resident_bytes == 4 * kPage);
  CHECK(all.empty_bytes + all.sparse_bytes == 0);
}

TEST_CASE("pages of random heaps are as in an account of every byte") {
  std::mt19937_64 random(20261130);
  const auto below = [&random](uint64_t end) { return random() % end; };
  for (int round = 0; round < 200; ++round) {
    const uint64_t pages = 1 + below(60);
    const MemoryRange heap{kHeap, kHeap + pages * kPage};
    std::vector<Piece> blocks;
    for (uint64_t at = kHeap + 16 * below(400); at < heap.end;) {
      const uint64_t size = below(4) == 0 ? below(3 * kPage) : below(300);
      const uint64_t room = (std::max<uint64_t>(32, size + 8) + 15) / 16 * 16;
      if (at + room > heap.end) break;
      blocks.push_back({at, size, static_cast<uint32_t>(below(6))});
      at += room + (below(3) == 0 ? 16 * below(900) : 0);
    }
    if (blocks.empty()) continue;
    std::shuffle(blocks.begin(), blocks.end(), random);
    std::vector<MemoryRange> present;
    for (uint64_t page = 0; page < pages;) {
      const uint64_t length = std::min(1 + below(9), pages - page);
      present.push_back({kHeap + page * kPage, kHeap + (page + length) * kPage});
      page += length + below(3);
    }
    check_equal(count({heap}, present, blocks), coloured(heap, present, blocks));
  }
}

TEST_CASE("the pages are looked at when the heap has been low for a while, and found as they are") {
  FallenHeap heap;
  heap.step(1000);
  heap.step(1090);
  heap.step(1090);
  CHECK_FALSE(heap.found());
  heap.step_to_end(1100);
  REQUIRE(heap.found());
  CHECK(heap.found()->since_ns == 1000 * kMs);
  CHECK(heap.found()->at_ns == 1100 * kMs);
  const HeapPages pages = heap.found()->pages;
  CHECK(pages.resident_bytes == 16 * kMega);
  CHECK(pages.empty_bytes == 16 * kMega - kPage);
  CHECK(pages.empty_pieces == 1);
  CHECK(pages.sparse_bytes == kPage - 80);
  REQUIRE(pages.pinning.size() == 1);
  CHECK(pages.pinning[0] == LostPart{7, kPage - 80, 1});
}

TEST_CASE("what was found is dropped where the memory is in use again, or was given back") {
  FallenHeap grown;
  grown.step(1000);
  grown.step_to_end(1100);
  REQUIRE(grown.found());
  grown.books.malloc(5, 1, 0x3000, 3 * kMega, 3);
  grown.step(1110);
  CHECK(grown.found());
  grown.books.malloc(6, 1, 0x4000, 2 * kMega, 3);  // together more than a quarter of 16 MiB
  grown.step(1120);
  CHECK_FALSE(grown.found());
  FallenHeap returned;
  returned.step(1000);
  returned.step_to_end(1100);
  returned.step(1110, 97 * kMega);
  CHECK(returned.found());
  returned.step(1120, 95 * kMega);
  CHECK_FALSE(returned.found());
  FallenHeap ended;
  ended.step(1000);
  ended.step_to_end(1100);
  REQUIRE(ended.found());
  ended.books.malloc(5, 1, 0x3000, 40 * kMega, 3);  // without a look since
  CHECK_FALSE(ended.found());
}

TEST_CASE("what is used again begins the time anew, and where it is little, so much less is unused") {
  FallenHeap heap;
  heap.step(1000);
  heap.step_to_end(1100);
  REQUIRE(heap.found());
  heap.books.malloc(5, 1, 0x3000, 3 * kMega, 3);
  heap.step(1110);
  heap.books.free(6, 1, 0x3000);
  heap.step(1120);
  REQUIRE(heap.found());
  CHECK(heap.found()->since_ns == 1000 * kMs);
  CHECK(heap.found()->pages.empty_bytes == 13 * kMega - kPage);
  CHECK(heap.found()->pages.sparse_bytes == kPage - 80);
  heap.books.malloc(7, 1, 0x4000, 20 * kMega, 3);  // of 64 MiB that were freed
  heap.step(1130);
  CHECK_FALSE(heap.found());
  heap.books.free(8, 1, 0x4000);
  heap.step(1140);
  heap.step_to_end(1'000'000);
  REQUIRE(heap.found());
  CHECK(heap.found()->since_ns == 1140 * kMs);
  CHECK(heap.found()->pages.empty_bytes == 16 * kMega - kPage);
}

TEST_CASE("a heap that falls further begins anew, and one that gave its pages back is not looked at") {
  FallenHeap heap(30 * kMega);
  heap.step(1000);
  heap.books.free(5, 1, 0x1000);
  heap.step(5000);
  heap.step_to_end(5100);
  REQUIRE(heap.found());
  CHECK(heap.found()->since_ns == 5000 * kMs);
  FallenHeap small;
  for (uint64_t ms = 1000; ms < 3000; ms += 100) small.step(ms, 15 * kMega);  // less than a quarter of 64 MiB
  const timespec pause{0, 50'000'000};
  ::nanosleep(&pause, nullptr);
  small.step(3000, 15 * kMega);
  CHECK_FALSE(small.found());
}
