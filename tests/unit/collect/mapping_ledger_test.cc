// tests/unit/collect/mapping_ledger_test.cc: mappings against books that know of each page whose it is.
#include "cli/collect/books/mapping_ledger.h"

#include <catch2/catch.hpp>

#include <array>
#include <map>
#include <random>

namespace heapprof::cli {
namespace {

using Operation = wire::DeviceOperation;

constexpr uint64_t kPage = 4096;
constexpr uint32_t kMapped = wire::kMappedDevice;
constexpr uint32_t kFile = wire::kMappedFileDevice;
constexpr uint32_t kReserved = wire::kReservedDevice;

class Session {
 public:
  void map(uint64_t page, uint64_t pages, uint32_t device, uint64_t flags = 0, uint32_t site = 1) {
    const bool is_file = device == kFile;
    apply({Operation::kMapRange, device, flags | (is_file ? uint64_t{wire::kMapIsFile} : 0), page * kPage}, pages,
          site);
  }
  void unmap(uint64_t page, uint64_t pages) { apply({Operation::kUnmapRange, 0, pages * kPage, page * kPage}, 0, 0); }
  void move(uint64_t page, uint64_t pages) { apply({Operation::kMoveRange, 0, pages * kPage, page * kPage}, 0, 0); }
  void keep(uint64_t page) { apply({Operation::kKeepRange, 0, 0, page * kPage}, 0, 0); }
  void protect(uint64_t page, uint64_t pages, bool is_reserved, uint32_t site = 1) {
    apply({Operation::kProtectRange, is_reserved ? kReserved : kMapped, 0, page * kPage}, pages, site);
  }
  void use_thread(uint32_t thread) { thread_ = thread; }

  MappingLedger ledger;
  uint64_t live(uint32_t device) const { return ledger.live_bytes(device) / kPage; }
  const SiteBook& sites(uint32_t device) const { return ledger.book(device)->sites; }
  uint64_t peak(uint32_t device) const { return sites(device).totals().peak.bytes / kPage; }

 private:
  void apply(const DeviceEvent& facts, uint64_t pages, uint32_t site) {
    const Event event{++now_, 0, pages * kPage, site, pack_thread(thread_, EventKind::kDevice)};
    ledger.apply(facts, event, now_);
  }
  uint64_t now_ = 0;
  uint32_t thread_ = 1;
};

TEST_CASE("a mapping that is unmapped in part ends with its last page") {
  Session session;
  session.map(100, 10, kMapped);
  session.unmap(103, 4);
  CHECK(session.live(kMapped) == 6);
  CHECK(session.sites(kMapped)[1].live.blocks == 1);
  session.unmap(90, 13);
  session.unmap(107, 3);
  CHECK(session.live(kMapped) == 0);
  CHECK(session.sites(kMapped)[1].live.blocks == 0);
  CHECK(session.sites(kMapped)[1].temporary_blocks == 1);
  CHECK(session.sites(kMapped).total().bytes == 10 * kPage);
}

TEST_CASE("one call unmaps several mappings, and what was never seen") {
  Session session;
  session.map(10, 5, kMapped, 0, 1);
  session.map(20, 5, kFile, 0, 2);
  session.unmap(0, 1000);
  session.unmap(0, 1000);
  CHECK(session.live(kMapped) == 0);
  CHECK(session.live(kFile) == 0);
  CHECK(session.ledger.unmatched() == 0);
}

TEST_CASE("a mapping over others ends what it covers, and no more") {
  Session session;
  session.map(10, 10, kReserved, 0, 1);
  session.map(12, 3, kMapped, 0, 2);
  CHECK(session.live(kReserved) == 7);
  CHECK(session.live(kMapped) == 3);
  session.map(10, 10, kFile, 0, 3);
  CHECK(session.live(kReserved) == 0);
  CHECK(session.live(kMapped) == 0);
  CHECK(session.live(kFile) == 10);
}

TEST_CASE("access to a part of a reservation is a block of who gave it") {
  Session session;
  session.map(1000, 100, kReserved, 0, 1);
  session.protect(1010, 5, false, 2);
  session.protect(1012, 5, false, 3);  // three of them had it before
  CHECK(session.live(kReserved) == 93);
  CHECK(session.sites(kMapped)[2].live.bytes == 5 * kPage);
  CHECK(session.sites(kMapped)[3].live.bytes == 2 * kPage);
  session.protect(1000, 100, true, 4);
  CHECK(session.live(kMapped) == 0);
  CHECK(session.live(kReserved) == 100);
  CHECK(session.sites(kReserved)[4].live.bytes == 7 * kPage);
}

TEST_CASE("a reserved file is a file when it may be used") {
  Session session;
  session.map(10, 4, kReserved, wire::kMapIsFile);
  session.map(14, 4, kReserved);
  session.protect(10, 8, false);
  CHECK(session.live(kFile) == 4);
  CHECK(session.live(kMapped) == 4);
}

TEST_CASE("what mremap moves counts until it has moved, and once") {
  Session session;
  session.map(10, 8, kFile, 0, 1);
  session.move(10, 8);
  CHECK(session.live(kFile) == 8);
  session.use_thread(2);
  session.map(10, 2, kMapped, 0, 3);  // the kernel has moved it already
  session.use_thread(1);
  session.map(50, 12, kMapped, wire::kMapIsMoved, 2);
  CHECK(session.live(kFile) == 12);
  CHECK(session.live(kMapped) == 2);
  CHECK(session.peak(kFile) == 12);
  CHECK(session.sites(kFile)[1].live.blocks == 0);
  CHECK(session.sites(kFile)[2].live.bytes == 12 * kPage);
}

TEST_CASE("what mremap moves of several mappings keeps its kind and its place") {
  Session session;
  session.map(10, 4, kMapped, 0, 1);
  session.map(22, 4, kMapped, 0, 2);
  session.map(26, 4, kFile, 0, 3);
  session.protect(24, 2, true, 4);
  session.move(10, 20);  // with a hole of eight pages
  session.map(50, 20, kMapped, wire::kMapIsMoved, 5);
  CHECK(session.live(kMapped) == 6);
  CHECK(session.live(kReserved) == 2);
  CHECK(session.live(kFile) == 4);
  session.unmap(54, 8);  // where the hole is now
  CHECK(session.live(kMapped) == 6);
  session.unmap(62, 2);
  CHECK(session.live(kMapped) == 4);
  session.unmap(66, 4);
  CHECK(session.live(kFile) == 0);
  session.move(50, 0);  // stays, and is mapped a second time
  session.map(80, 4, kMapped, wire::kMapIsMoved, 6);
  CHECK(session.live(kMapped) == 8);
}

TEST_CASE("what mremap shrinks keeps each kind and each hole below the new end") {
  Session session;
  session.map(10, 8, kMapped);
  session.map(18, 4, kReserved);
  session.map(26, 4, kFile);
  session.move(14, 14);  // with a hole of four pages
  SECTION("up to the middle of the second mapping") {
    session.map(14, 6, kMapped, wire::kMapIsMoved);
    CHECK(session.live(kMapped) == 8);
    CHECK(session.live(kReserved) == 2);
  }
  SECTION("up to the hole, into which another thread maps at the same time") {
    session.use_thread(2);
    session.map(22, 3, kFile);
    session.use_thread(1);
    session.map(14, 10, kMapped, wire::kMapIsMoved);
    CHECK(session.live(kMapped) == 8);
    CHECK(session.live(kReserved) == 4);
  }
  CHECK(session.live(kFile) == (session.live(kReserved) == 2 ? 2 : 5));
}

TEST_CASE("what lies at the new place opposite a hole stays there") {
  Session session;
  session.map(10, 2, kMapped);
  session.map(16, 2, kReserved);
  session.map(50, 20, kFile);
  session.move(10, 8);
  session.map(50, 8, kMapped, wire::kMapIsMoved);
  CHECK(session.live(kMapped) == 2);
  CHECK(session.live(kReserved) == 2);
  CHECK(session.live(kFile) == 16);
}

TEST_CASE("a copy of several mappings has the kinds of each of them") {
  Session session;
  session.map(10, 4, kMapped);
  session.map(14, 4, kReserved);
  session.map(20, 2, kFile);
  session.map(50, 20, kFile);
  session.move(10, 0);
  session.map(50, 12, kMapped, wire::kMapIsMoved | wire::kMapIsCopy);
  CHECK(session.live(kMapped) == 8);
  CHECK(session.live(kReserved) == 8);
  CHECK(session.live(kFile) == 14);
}

TEST_CASE("a call that failed leaves all as it was") {
  Session session;
  session.map(10, 8, kMapped, 0, 1);
  session.map(20, 8, kFile, 0, 2);
  const bool is_unmap = GENERATE(true, false);
  const auto begin = [&](uint64_t page, uint64_t pages) {
    is_unmap ? session.unmap(page, pages) : session.move(page, pages);
  };
  begin(12, 14);
  session.keep(12);
  CHECK(session.live(kMapped) == 8);
  CHECK(session.live(kFile) == 8);
  begin(0, 100);
  session.keep(0);
  CHECK(session.live(kMapped) == 8);
  CHECK(session.sites(kMapped)[1].live.blocks == 1);
  CHECK(session.sites(kFile)[2].live.blocks == 1);
  CHECK(session.sites(kFile)[2].temporary_blocks == 0);
  CHECK(session.peak(kMapped) == 8);
  session.unmap(0, 100);
  CHECK(session.live(kMapped) == 0);
  CHECK(session.live(kFile) == 0);
}

TEST_CASE("a thread that ended inside mremap did not move anything") {
  Session session;
  session.map(10, 8, kMapped);
  session.move(10, 8);
  session.ledger.forget_thread(1);
  session.unmap(10, 2);
  CHECK(session.live(kMapped) == 6);
}

// Of each page the device, and the number of the block it belongs to.
struct Books {
  struct Page {
    uint32_t device = 0;
    bool is_file = false;
    bool operator==(const Page&) const = default;
  };
  static constexpr uint64_t kPages = 48;
  std::array<Page, kPages> pages;
  std::map<uint32_t, uint64_t> peak, total;

  uint64_t live(uint32_t device) const {
    uint64_t count = 0;
    for (const Page& page : pages) count += page.device == device ? 1 : 0;
    return count;
  }
  void note() {
    for (const uint32_t device : {kMapped, kFile, kReserved}) peak[device] = std::max(peak[device], live(device));
  }
};

TEST_CASE("every device has the bytes that a list of all pages has, over random calls") {
  std::mt19937_64 random(11);
  Session session;
  Books books;
  for (int step = 0; step < 30'000; ++step) {
    const uint64_t page = 1 + random() % (Books::kPages - 1);
    const uint64_t pages = 1 + random() % std::min<uint64_t>(Books::kPages - page, 12);
    const auto set = [&](uint64_t first, Books::Page value) {
      for (uint64_t i = first; i < first + pages; ++i) books.pages[i] = value;
    };
    switch (random() % 5) {
      case 0: {
        const uint32_t device = kMapped + static_cast<uint32_t>(random() % 3);
        const bool is_file = device == kFile || (device == kReserved && random() % 2 == 0);
        session.map(page, pages, device, is_file ? uint64_t{wire::kMapIsFile} : 0);
        set(page, {device, is_file});
        books.total[device] += pages;
        break;
      }
      case 1:
        session.unmap(page, pages);
        if (random() % 4 == 0) {
          session.keep(page);
        } else {
          set(page, {});
        }
        break;
      case 2: {  // as mremap does it
        const bool is_copy = random() % 4 == 0;
        const bool is_second = !is_copy && random() % 8 == 0;  // of a file's pages, from no bytes
        const bool is_in_place = !is_copy && !is_second && random() % 3 == 0;
        const uint64_t changed = random() % 2 == 0 ? pages : 1 + random() % 16;
        const uint64_t left = is_copy ? pages : changed;
        const uint64_t to = is_in_place ? page : 1 + random() % (Books::kPages - 1);
        const bool overlaps = !is_in_place && to < page + std::max(pages, left) && page < to + left;
        if (overlaps || to + left > Books::kPages || books.pages[page].device == 0) break;
        std::vector<Books::Page> moved(left);
        for (uint64_t i = 0; i < std::min(left, pages); ++i) moved[i] = books.pages[page + i];
        // These are one mapping to the kernel, whose other pages were not seen.
        const bool is_one = is_second || left > pages || (left < pages && !is_in_place);
        if (is_one) moved.assign(left, books.pages[page]);
        session.move(page, is_copy || is_second ? 0 : pages);
        if (random() % 4 == 0) {
          session.keep(page);
          break;
        }
        session.map(to, left, kMapped, wire::kMapIsMoved | (is_copy ? uint64_t{wire::kMapIsCopy} : 0));
        if (!is_copy && !is_second) set(page, {});
        for (uint64_t i = 0; i < left; ++i) {
          if (moved[i].device == 0) continue;
          books.pages[to + i] = moved[i];
          ++books.total[moved[i].device];
        }
        break;
      }
      default: {
        const bool is_reserved = random() % 2 == 0;
        session.protect(page, pages, is_reserved);
        for (uint64_t i = page; i < page + pages; ++i) {
          Books::Page& one = books.pages[i];
          if (one.device == 0 || (one.device == kReserved) == is_reserved) continue;
          one.device = is_reserved ? kReserved : one.is_file ? kFile : kMapped;
          ++books.total[one.device];
        }
      }
    }
    books.note();
    for (const uint32_t device : {kMapped, kFile, kReserved}) REQUIRE(session.live(device) == books.live(device));
  }
  session.ledger.finish(1'000'000);
  for (const uint32_t device : {kMapped, kFile, kReserved}) {
    CHECK(session.peak(device) == books.peak[device]);
    CHECK(session.sites(device).total().bytes == books.total[device] * kPage);
    uint64_t blocks = 0, bytes = 0;
    session.ledger.for_each_live(device, [&](const MappedBlock& block) {
      ++blocks;
      bytes += block.live_bytes;
    });
    CHECK(bytes == books.live(device) * kPage);
    CHECK(blocks == session.sites(device).totals().live.blocks);
  }
}

TEST_CASE("what leads over ever more pieces ends in a count, not in hours; what is small is followed all the same") {
  Session session;
  constexpr uint64_t kPieces = 100'000;
  for (uint64_t i = 0; i < kPieces; ++i) session.map(10 + 2 * i, 1, kMapped);
  SECTION("changes of the protection") {
    for (int i = 0; i < 10'000; ++i) session.protect(1, 10 * kPieces, i % 2 == 0);
    CHECK(session.live(kMapped) + session.live(kReserved) == kPieces);
    const uint64_t reserved = session.live(kReserved);
    session.protect(10, 3, reserved == 0);
    CHECK(session.live(kReserved) == (reserved == 0 ? 2 : reserved - 2));
  }
  SECTION("calls that fail") {
    for (int i = 0; i < 10'000; ++i) {
      session.map(10 * kPieces, 1, kMapped);
      session.unmap(1, 10 * kPieces);
      session.keep(1);
    }
  }
  SECTION("moves") {
    for (int i = 0; i < 10'000; ++i) {
      const uint64_t from = i % 2 == 0 ? 1 : 10 * kPieces + 1;
      session.move(from, 10 * kPieces);
      session.map(i % 2 == 0 ? 10 * kPieces + 1 : 1, 10 * kPieces, kMapped, wire::kMapIsMoved);
    }
    CHECK(session.live(kMapped) == 10 * kPieces);  // one block, when it had become too much
  }
  CHECK(session.ledger.unmatched() > 0);
}

}  // namespace
}  // namespace heapprof::cli
