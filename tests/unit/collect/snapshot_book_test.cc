// tests/unit/collect/snapshot_book_test.cc: what sites had at snapshots, however they were thinned; the largest blocks
// without a look at all; when the next snapshot is due; and the same in a ledger, at marks.
#include "cli/collect/books/snapshot_book.h"

#include "cli/collect/books/largest_blocks.h"
#include "cli/collect/books/ledger.h"
#include "cli/collect/snapshot_clock.h"
#include "shared/scopes.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>

namespace heapprof::cli {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1000 * kMs;

using Amounts = std::map<uint32_t, std::pair<uint64_t, uint64_t>>;  // by site, of those that have any

Amounts live_of(const SiteBook& book) {
  Amounts live;
  for (uint32_t i = 0; i < book.size(); ++i) {
    if (book[i].live.bytes != 0 || book[i].live.blocks != 0) live[i] = {book[i].live.bytes, book[i].live.blocks};
  }
  return live;
}

// What each snapshot says that the sites of its first device had, by the sum of all steps up to it.
std::vector<Amounts> said_by(const SnapshotBook& book) {
  std::vector<Amounts> said;
  Amounts live;
  for (const KeptSnapshot& snapshot : book.snapshots()) {
    SnapshotBook::for_each_step(snapshot.devices[0], [&](uint32_t site, Amount more) {
      live[site].first += more.bytes;
      live[site].second += more.blocks;
      if (live[site] == std::pair<uint64_t, uint64_t>()) live.erase(site);
    });
    said.push_back(live);
  }
  return said;
}

void take(SnapshotBook* book, const SiteBook& sites, uint64_t ticks, bool is_mark) {
  if (book->make_room(is_mark)) book->take({ticks, is_mark, 0, 0, {}}, {{0, &sites, {}}});
}

// What a look at every block finds.
std::vector<uint64_t> largest_sizes(LiveHeap* heap) {
  std::vector<uint64_t> sizes;
  heap->for_each([&](const Block& block) { sizes.push_back(block.size_bytes); });
  std::sort(sizes.rbegin(), sizes.rend());
  sizes.resize(std::min(sizes.size(), LargestBlocks::kFound));
  return sizes;
}

std::vector<uint64_t> sizes_of(std::vector<Block> blocks) {
  std::vector<uint64_t> sizes;
  for (const Block& block : blocks) sizes.push_back(block.size_bytes);
  std::sort(sizes.rbegin(), sizes.rend());
  return sizes;
}

}  // namespace

TEST_CASE("a snapshot has what every site had, also of what is beyond any real number") {
  SiteBook sites;
  sites.grow_to(300);
  SnapshotBook book;
  book.start();
  std::mt19937_64 random(1);
  std::vector<Amounts> want;
  for (int i = 0; i < 100; ++i) {
    for (int k = 0; k < 40; ++k) sites.add(static_cast<uint32_t>(random() % 300), random() >> random() % 64);
    take(&book, sites, static_cast<uint64_t>(i), i % 3 == 0);
    want.push_back(live_of(sites));
  }
  CHECK(said_by(book) == want);
  CHECK(book.snapshots().back().devices[0].live.bytes == sites.totals().live.bytes);
  CHECK(book.lost() == 0);
}

TEST_CASE("when there are too many, every other one by time goes, those of marks stay, and no amount changes") {
  SiteBook sites;
  sites.grow_to(50);
  SnapshotBook book;
  book.start();
  std::mt19937_64 random(2);
  std::map<uint64_t, Amounts> want;  // by time
  for (uint64_t i = 1; i <= 5000; ++i) {
    const auto site = static_cast<uint32_t>(random() % 50);
    if (i % 2 == 0 || sites[site].live.blocks == 0) {
      sites.add(site, 100 + site);
    } else {
      sites.remove(site, 100 + site, 0, false);
    }
    take(&book, sites, i, i % 100 == 0);
    want[i] = live_of(sites);
  }
  CHECK(book.snapshots().size() <= SnapshotBook::kMost);
  CHECK(book.snapshots().size() >= SnapshotBook::kMost / 2);
  CHECK(book.snapshots().size() + book.thinned() == 5000);
  CHECK(book.lost() == 0);
  CHECK(book.thinnings() > 0);
  const std::vector<Amounts> said = said_by(book);
  uint64_t marks = 0;
  for (size_t i = 0; i < said.size(); ++i) {
    CHECK(said[i] == want[book.snapshots()[i].ticks]);
    marks += book.snapshots()[i].is_mark ? 1 : 0;
  }
  CHECK(marks == 50);
}

TEST_CASE("marks that find no room are counted, and change nothing of the others") {
  SiteBook sites;
  sites.grow_to(3);
  SnapshotBook book;
  book.start();
  constexpr uint64_t kMost = SnapshotBook::kMostMarks;
  for (uint64_t i = 0; i < kMost + 7; ++i) {
    sites.add(1, 10);
    take(&book, sites, i, true);
  }
  CHECK(book.snapshots().size() == kMost);
  CHECK(book.lost() == 7);
  CHECK(said_by(book).back()[1] == std::pair<uint64_t, uint64_t>(10 * kMost, kMost));
  for (uint64_t i = 0; i < 2 * SnapshotBook::kMost; ++i) {  // there is room for moments in between
    sites.add(1, 10);
    take(&book, sites, kMost + 7 + i, false);
  }
  CHECK(book.lost() == 7);
  CHECK(book.snapshots().size() > kMost + 50);
}

TEST_CASE("what sites had takes no more memory than is said") {
  SiteBook sites;
  sites.grow_to(200'000);
  SnapshotBook book;
  book.start();
  for (uint64_t i = 0; i < 60; ++i) {
    for (uint32_t site = 1; site < sites.size(); ++site) sites.add(site, 1'000'000 + i);
    take(&book, sites, i, false);
  }
  CHECK(book.thinned() > 0);
  // One snapshot may be taken when there is next to no room, and is then as large as one is.
  CHECK(book.bytes() <= 8 * SnapshotBook::kMostSteps + sites.size() * (sizeof(Amount) + 8) + 100'000);
  CHECK(said_by(book).back() == live_of(sites));
}

TEST_CASE("the largest blocks are those that a look at all of them finds") {
  std::mt19937_64 random(3);
  for (const uint64_t most_bytes : {uint64_t{4}, uint64_t{1} << 12, uint64_t{1} << 40}) {
    LiveHeap heap;
    LargestBlocks largest;
    largest.start();
    std::vector<uint64_t> live;
    for (int i = 0; i < 60'000; ++i) {
      if (live.size() > 2000 || (!live.empty() && random() % 3 == 0)) {
        // Now and then all of the large ones go.
        const size_t at = random() % live.size();
        Block block;
        REQUIRE(heap.take(live[at], &block));
        live[at] = live.back();
        live.pop_back();
      } else {
        const uint64_t address = (random() % 5000 + 1) * 16;
        bool is_new = false;
        LiveHeap::Entry* entry = heap.insert(address, &is_new);
        if (!is_new) continue;
        *entry = {random() % most_bytes, 0, 1, 0};
        if (largest.is_large(entry->size_bytes())) largest.note(address, entry->size_bytes(), &heap);
        live.push_back(address);
      }
      if (i % 5000 == 4999) {
        std::vector<uint64_t> by_size = live;
        std::sort(by_size.begin(), by_size.end(),
                  [&](uint64_t a, uint64_t b) { return heap.find(a)->size_bytes() > heap.find(b)->size_bytes(); });
        for (size_t k = 0; k < by_size.size() / 2; ++k) {
          Block block;
          REQUIRE(heap.take(by_size[k], &block));
        }
        live.assign(by_size.begin() + static_cast<std::ptrdiff_t>(by_size.size() / 2), by_size.end());
      }
      if (i % 97 == 0) CHECK(sizes_of(largest.find(&heap)) == largest_sizes(&heap));
    }
  }
}

TEST_CASE("the next snapshot is an interval away, and as far as ten times of what the last one took") {
  SnapshotClock clock;
  clock.start(kSecond, 0);
  CHECK_FALSE(clock.is_due(kSecond - 1));
  CHECK(clock.is_due(kSecond));
  clock.taken(kSecond, kSecond + kMs, 0);
  CHECK(clock.next_ns() == 2 * kSecond);
  CHECK(clock.late() == 0);
  clock.taken(2 * kSecond, 2 * kSecond + 300 * kMs, 0);  // to 5.0 s at the earliest
  CHECK(clock.next_ns() == 6 * kSecond);
  CHECK(clock.late() == 3);
  clock.taken(6 * kSecond, 6 * kSecond, 1);
  CHECK(clock.interval_ns() == 2 * kSecond);
  CHECK(clock.next_ns() == 8 * kSecond);
  SnapshotClock marks;
  marks.start(kMarksOnly, 5);
  CHECK_FALSE(marks.is_due(UINT64_MAX - 1));
}

TEST_CASE("at a mark the ledger keeps what is live just then, with the block that a realloc is at work on") {
  ThreadTable threads;
  Ledger ledger(&threads, Ledger::TimeSource::kStamps);
  threads.enter(100);
  threads.enter(101);
  ledger.grow_sites(5);
  ledger.start(0);
  ledger.start_snapshots();
  const auto send = [&](uint64_t stamp, uint32_t thread, EventKind kind, uint64_t address, uint64_t size,
                        uint32_t site) {
    ledger.apply(Event{stamp, address, size, site, pack_thread(thread, kind)}, thread - 1);
  };
  const auto mark = [&](uint64_t stamp, uint32_t thread) {
    send(stamp, thread, EventKind::kScope, wire::pack_scope(wire::ScopeOperation::kMark, 1, 0), stamp, 0);
  };
  send(10, 1, EventKind::kMalloc, 0x1000, 100, 1);
  send(20, 1, EventKind::kMalloc, 0x2000, 5000, 2);
  mark(30, 2);
  send(40, 1, EventKind::kReallocBegin, 0x2000, 0, 0);
  mark(50, 2);
  send(60, 1, EventKind::kReallocEnd, 0x3000, 9000, 3);
  send(70, 2, EventKind::kFree, 0x1000, 0, 0);
  mark(80, 1);
  const std::vector<Amounts> said = said_by(ledger.snapshots());
  REQUIRE(said.size() == 3);
  CHECK(said[0] == Amounts{{1, {100, 1}}, {2, {5000, 1}}});
  CHECK(said[1] == said[0]);
  CHECK(said[2] == Amounts{{3, {9000, 1}}});
  const auto largest = [&](size_t i) {
    std::vector<std::pair<uint64_t, uint32_t>> blocks;
    for (const KeptBlock& block : ledger.snapshots().snapshots()[i].devices[0].largest)
      blocks.emplace_back(block.size_bytes, block.site);
    return blocks;
  };
  using Blocks = std::vector<std::pair<uint64_t, uint32_t>>;
  CHECK(largest(0) == Blocks{{5000, 2}, {100, 1}});
  CHECK(largest(1) == Blocks{{5000, 2}, {100, 1}});
  CHECK(largest(2) == Blocks{{9000, 3}});
  CHECK(ledger.snapshots().snapshots()[1].ticks == 50);
  CHECK(ledger.snapshots().snapshots()[1].thread_id == 101);
}

}  // namespace heapprof::cli
