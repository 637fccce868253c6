// tests/unit/collect/untouched_test.cc: pages of large blocks that were never used, in blocks of this process.
#include "cli/collect/untouched.h"

#include "tests/support/ledger_books.h"

#include <catch2/catch.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

constexpr uint64_t kMega = 1 << 20;
constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kBlocks = 4;
constexpr uint64_t kBlockBytes = 10 * kMega;

// Four blocks of 10 MiB, of which no page is there; each begins 16 bytes behind the start of a page. What step() is
// told of the resident set is the test's choice.
class Rooms {
 public:
  Rooms()
      : all_(static_cast<char*>(
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    REQUIRE(all_ != MAP_FAILED);
    ::madvise(all_, kBytes, MADV_NOHUGEPAGE);
    for (uint64_t i = 0; i < kBlocks; ++i) books.malloc(1 + i, 1, at(i), kBlockBytes, static_cast<uint32_t>(1 + i));
    books.malloc(8, 1, 0x1000, 60'000, 9);  // small: it is not looked for
  }
  ~Rooms() { ::munmap(all_, kBytes); }
  Rooms(const Rooms&) = delete;
  Rooms& operator=(const Rooms&) = delete;

  uint64_t at(uint64_t block) const { return reinterpret_cast<uint64_t>(all_) + block * (kBlockBytes + kPage) + 16; }
  void touch(uint64_t block, uint64_t bytes) { std::memset(reinterpret_cast<char*>(at(block)), 1, bytes); }
  void step(uint64_t at_ms, uint64_t resident_bytes, uint64_t books_ms = 0) {
    watch.step({at_ms * kMs, (books_ms == 0 ? at_ms : books_ms) * kMs, resident_bytes}, {::getpid(), arena_inode},
               &books.ledger);
  }
  // Begins a look and takes what it saw.
  void look(uint64_t at_ms, uint64_t resident_bytes) {
    step(at_ms, resident_bytes);
    const timespec pause{0, 1'000'000};
    for (int i = 0; i < 60'000; ++i) {
      step(at_ms, resident_bytes);
      ::nanosleep(&pause, nullptr);
      if (watch.is_at_rest()) return;
    }
    FAIL("it does not end");
  }
  uint64_t untouched() const {
    const auto found = watch.at_end();
    return found ? found->untouched_bytes() : 0;
  }

  test::Books books;
  UntouchedWatch watch;
  uint64_t arena_inode = 0;

 private:
  static constexpr uint64_t kBytes = kBlocks * (kBlockBytes + kPage) + kPage;

  char* all_;
};

// Of a block that is not touched: its first page and its last are in part another's.
constexpr uint64_t kRoom = kBlockBytes - kPage;

}  // namespace

TEST_CASE("pages of large blocks that were never used are found once they have lacked for a while") {
  Rooms rooms;
  rooms.touch(0, 3 * kMega);
  rooms.step(1000, 3 * kMega);
  rooms.step(1049, 3 * kMega);
  CHECK(rooms.watch.is_at_rest());
  rooms.look(1050, 3 * kMega);
  const auto found = rooms.watch.at_end();
  REQUIRE(found);
  CHECK(found->at_ns == 1050 * kMs);
  REQUIRE(found->blocks.size() == kBlocks);
  for (const BlockPages& block : found->blocks) {
    const uint64_t touched = block.address == rooms.at(0) ? 3 * kMega : 0;  // 16 bytes of it lie in a page more
    CHECK(block.untouched_bytes == kRoom - touched);
    CHECK(block.size_bytes == kBlockBytes);
    CHECK(block.site == 1 + (block.address - rooms.at(0)) / kBlockBytes);
  }
}

TEST_CASE("a process that has resident what is live is not looked at") {
  Rooms rooms;
  for (uint64_t ms = 1000; ms < 3000; ms += 10) {
    rooms.step(ms, 40 * kMega - 8 * kMega);  // less than a quarter lacks
    CHECK(rooms.watch.is_at_rest());
  }
}

TEST_CASE("what is touched later was not left untouched") {
  Rooms rooms;
  rooms.step(1000, 0);
  rooms.look(1050, 0);
  CHECK(rooms.untouched() == kBlocks * kRoom);
  // A little: it is looked again when it is time.
  rooms.touch(1, 2 * kMega);
  rooms.look(36'000'000, 2 * kMega);
  CHECK(rooms.untouched() == kBlocks * kRoom - 2 * kMega);
  // Much: nothing is known until it is looked again, which is soon.
  for (uint64_t i = 1; i < kBlocks; ++i) rooms.touch(i, kBlockBytes);
  rooms.step(36'000'010, 30 * kMega);
  CHECK(rooms.untouched() == 0);
  rooms.look(72'000'000, 30 * kMega);
  CHECK(rooms.untouched() == kRoom);
  const auto found = rooms.watch.at_end();
  REQUIRE(found);
  CHECK(std::count_if(found->blocks.begin(), found->blocks.end(),
                      [](const BlockPages& block) { return block.untouched_bytes == 0; }) == 3);
}

TEST_CASE("blocks that became resident and are gone before another look are not known, and dropped") {
  Rooms rooms;
  rooms.step(1000, 0);
  rooms.look(1050, 0);
  rooms.step(1060, 30 * kMega);
  for (uint64_t i = 0; i < kBlocks; ++i) rooms.books.free(10 + i, 1, rooms.at(i));
  rooms.step(1070, 0);
  CHECK(rooms.untouched() == 0);
  rooms.look(72'000'000, 0);
  CHECK(rooms.untouched() == 0);
}

TEST_CASE("blocks that are freed as they are stay in what was found") {
  Rooms rooms;
  rooms.step(1000, 0);
  rooms.look(1050, 0);
  rooms.books.malloc(10, 1, 0x10'0000, 100 * kMega, 5);  // where this process has nothing
  rooms.step(1060, 100 * kMega);                         // it may have been theirs
  CHECK(rooms.untouched() == 0);
  rooms.look(36'000'000, 100 * kMega);  // and was not
  CHECK(rooms.untouched() == kBlocks * kRoom);
  rooms.books.free(11, 1, 0x10'0000);
  rooms.step(36'000'010, 0);
  for (uint64_t i = 0; i < kBlocks; ++i) rooms.books.free(12 + i, 1, rooms.at(i));
  rooms.step(36'000'020, 0);
  CHECK(rooms.untouched() == kBlocks * kRoom);
  rooms.step(36'000'030, 100 * kMega);  // of whatever comes later
  CHECK(rooms.untouched() == kBlocks * kRoom);
}

TEST_CASE("where as much was given back as was touched, less is lacking, and it is looked again") {
  Rooms rooms;
  rooms.books.malloc(10, 1, 0x10'0000, 30 * kMega, 5);  // where this process has nothing; all of it is touched
  rooms.step(1000, 30 * kMega);
  rooms.look(1050, 30 * kMega);
  CHECK(rooms.untouched() == kBlocks * kRoom);
  for (uint64_t i = 0; i < 3; ++i) rooms.touch(i, kBlockBytes);
  rooms.books.free(11, 1, 0x10'0000);
  rooms.step(1060, 30 * kMega);
  CHECK(rooms.untouched() == 0);
  rooms.look(36'000'000, 30 * kMega);
  CHECK(rooms.untouched() == kRoom);
}

TEST_CASE("nothing is found in another image of the process") {
  Rooms rooms;
  const int arena = ::memfd_create("arena", 0);
  struct stat facts {};
  REQUIRE(::fstat(arena, &facts) == 0);
  rooms.arena_inode = facts.st_ino;
  rooms.step(1000, 0);
  rooms.look(1050, 0);
  CHECK(rooms.untouched() == 0);
  REQUIRE(::ftruncate(arena, kPage) == 0);
  void* const mapped = ::mmap(nullptr, kPage, PROT_READ, MAP_SHARED, arena, 0);
  rooms.look(36'000'000, 0);
  CHECK(rooms.untouched() == kBlocks * kRoom);
  ::munmap(mapped, kPage);
  ::close(arena);
}

TEST_CASE("a block that is mapped nowhere is not known") {
  Rooms rooms;
  rooms.books.malloc(10, 1, 0x10'0000, 100 * kMega, 5);
  rooms.step(1000, 0);
  rooms.look(1050, 0);
  CHECK(rooms.untouched() == kBlocks * kRoom);
}

TEST_CASE("a block that ends while the kernel is asked does not count, nor another one at its address") {
  Rooms rooms;
  rooms.step(1000, 0);
  rooms.step(1050, 0);  // the look has begun with all four
  rooms.books.free(10, 1, rooms.at(0));
  rooms.books.free(11, 1, rooms.at(1));
  rooms.books.malloc(12, 1, rooms.at(1), kBlockBytes, 2);
  // The books have not come to the moment at which the kernel was asked.
  const timespec pause{0, 20'000'000};
  for (int i = 0; i < 5; ++i) {
    rooms.step(1060, 0, 1050);
    ::nanosleep(&pause, nullptr);
    CHECK_FALSE(rooms.watch.is_at_rest());
  }
  rooms.look(1070, 0);
  CHECK(rooms.untouched() == 2 * kRoom);
}
