// tests/unit/collect/ledger_test.cc: what each event does to the books: peak, live, temporary, realloc in all its ways.
// Events that come out of order: ledger_order_test.cc.
#include "tests/support/ledger_books.h"

#include <catch2/catch.hpp>

namespace heapprof::cli {
namespace {

using test::Books;

TEST_CASE("a freed allocation is in the peak but not live") {
  Books books;
  books.malloc(10, 1, 0x10, 1235);
  books.free(20, 1, 0x10);
  books.malloc(30, 1, 0x10, 100);
  books.finish(40);
  CHECK(books.totals().peak.bytes == 1235);
  CHECK(books.totals().peak_ticks == 10);
  CHECK(books.totals().live.bytes == 100);
  CHECK(books.ledger.sites().total().bytes == 1335);
  CHECK(books.site(1).lifetime_low_ticks == 10 + 10);
}

TEST_CASE("a block is temporary if its thread allocates nothing before it is freed") {
  Books books;
  books.malloc(1, 1, 0x10, 8);
  books.malloc(2, 2, 0x20, 8);  // another thread's does not count
  SECTION("freed by the same thread") { books.free(3, 1, 0x10); }
  SECTION("freed by another thread") { books.free(3, 2, 0x10); }
  CHECK(books.totals().temporary_blocks == 1);
  books.malloc(4, 1, 0x30, 8);
  books.malloc(5, 1, 0x40, 8);
  books.free(6, 1, 0x30);
  CHECK(books.totals().temporary_blocks == 1);
  books.finish(9);
}

TEST_CASE("what realloc carries to another address is counted where the new block is") {
  Books books;
  books.malloc(1, 1, 0x10, 100, 1);
  books.begin(2, 1, 0x10);
  books.end(3, 1, 0x20, 300, 2);  // moved
  books.begin(4, 1, 0x20);
  books.end(5, 1, 0x20, 400, 2);  // grown where it is
  books.begin(6, 1, 0x20);
  books.end(7, 1, 0x30, 50, 3);  // smaller: no more than that is carried over
  books.begin(8, 1, 0x30);
  books.cancel(9, 1);
  books.finish(10);
  CHECK(books.site(1).resized_blocks == 0);
  CHECK(books.site(2).resized_blocks == 2);
  CHECK(books.site(2).moved_bytes == 100);
  CHECK(books.site(3).resized_blocks == 1);
  CHECK(books.site(3).moved_bytes == 50);
}

TEST_CASE("the block that realloc replaces is not temporary, the new one may be") {
  Books books;
  books.malloc(1, 1, 0x10, 8);
  books.begin(2, 1, 0x10);
  books.end(3, 1, 0x10, 16);
  CHECK(books.totals().temporary_blocks == 0);
  books.free(4, 1, 0x10);
  CHECK(books.totals().temporary_blocks == 1);
  CHECK(books.site(2).temporary_blocks == 1);
  books.finish(5);
}

TEST_CASE("while realloc runs its old block counts, and its address is free for others") {
  Books books;
  books.malloc(1, 1, 0x10, 1000);
  books.begin(2, 1, 0x10);
  books.malloc(3, 2, 0x10, 500, 3);  // the real realloc has moved the block, thread 2 got its place
  CHECK(books.totals().peak.bytes == 1500);
  CHECK(books.totals().peak.blocks == 2);
  books.end(4, 1, 0x50, 1100);
  books.finish(5);
  CHECK(books.totals().peak.bytes == 1600);
  CHECK(books.totals().live.bytes == 1600);
  CHECK(books.counts().unseen_frees == 0);
  CHECK(books.counts().reallocs == 1);
  CHECK(books.counts().allocations == 3);
}

TEST_CASE("realloc moves the sums at one moment: a smaller block is no new peak") {
  Books books;
  books.malloc(1, 1, 0x10, 1000);
  books.begin(2, 1, 0x10);
  books.end(3, 1, 0x20, 999);
  books.finish(4);
  CHECK(books.totals().peak.bytes == 1000);
  CHECK(books.totals().max_blocks == 1);
}

TEST_CASE("a failed realloc leaves the block live") {
  Books books;
  books.malloc(1, 1, 0x10, 1000);
  books.begin(2, 1, 0x10);
  books.cancel(3, 1);
  CHECK(books.counts().failed_reallocs == 1);
  books.free(4, 1, 0x10);
  books.finish(5);
  CHECK(books.totals().live.blocks == 0);
  CHECK(books.counts().foreign == 0);
}

TEST_CASE("realloc to nothing frees") {
  Books books;
  books.malloc(1, 1, 0x10, 1000);
  books.begin(2, 1, 0x10);
  books.free_begun(3, 1);
  books.finish(5);
  CHECK(books.totals().live.blocks == 0);
  CHECK(books.counts().frees == 1);
}

TEST_CASE("a realloc that never returned leaves the old block live") {
  Books books;
  books.malloc(1, 1, 0x10, 1000);
  books.begin(2, 1, 0x10);
  SECTION("at the end of the run") {}
  SECTION("at the end of its thread") { books.leave(3, 1); }
  books.finish(5);
  CHECK(books.totals().live.bytes == 1000);
  CHECK(books.site(1).lifetime_low_ticks == 4);
}

TEST_CASE("a realloc that never returned has ended its block if somebody else has the address") {
  Books books;
  books.malloc(1, 1, 0x10, 1000);
  books.begin(2, 1, 0x10);
  books.malloc(3, 2, 0x10, 50);
  books.finish(5);
  CHECK(books.totals().live.bytes == 50);
  CHECK(books.counts().unseen_frees == 1);
}

TEST_CASE("reallocs of a thread nest, and abandoned ones do not pile up") {
  Books books;
  for (uint64_t i = 1; i <= 40; ++i) {
    books.malloc(2 * i, 1, 0x1000 * i, 10);
    books.begin(2 * i + 1, 1, 0x1000 * i);
  }
  books.end(90, 1, 0xfff0, 7);  // of the last one
  books.finish(100);
  CHECK(books.totals().live.blocks == 40);
  CHECK(books.totals().live.bytes == 39 * 10 + 7);
}

TEST_CASE("frees and reallocs of unknown blocks are foreign and change nothing else") {
  Books books;
  books.free(1, 1, 0x10);
  books.begin(2, 1, 0x20);
  books.cancel(3, 1);
  CHECK(books.counts().foreign == 1);  // nothing happened to 0x20
  books.begin(4, 1, 0x20);
  books.end(5, 1, 0x30, 100);
  CHECK(books.counts().foreign == 2);
  books.begin(6, 1, 0x40);
  books.free_begun(7, 1);
  CHECK(books.counts().foreign == 3);
  books.end(8, 1, 0x50, 1);  // its begin was lost
  CHECK(books.counts().foreign == 4);
  books.finish(9);
  CHECK(books.totals().live.bytes == 101);
  CHECK(books.counts().frees == 2);
}

TEST_CASE("an address that begins twice has ended unseen in between") {
  Books books;
  books.malloc(1, 1, 0x10, 100);
  books.malloc(5, 1, 0x10, 30, 2);
  books.finish(9);
  CHECK(books.counts().unseen_frees == 1);
  CHECK(books.totals().live.bytes == 30);
  CHECK(books.totals().peak.bytes == 100);
  CHECK(books.site(1).live.blocks == 0);
}

TEST_CASE("blocks of no bytes and of more than 4 GiB are counted right") {
  Books books;
  books.malloc(1, 1, 0x10, 0);
  books.malloc(2, 1, 0x20, 5'000'000'000);
  books.finish(9);
  CHECK(books.totals().live.blocks == 2);
  CHECK(books.totals().live.bytes == 5'000'000'000);
  CHECK(books.totals().peak.blocks == 2);
}

// ---- Threads ----

TEST_CASE("the last block of a thread that has ended is still temporary when it is freed") {
  Books books;
  books.malloc(1, 1, 0x10, 100);
  books.leave(2, 1);
  books.threads.enter(555);  // must not get the slot yet
  books.malloc(3, 2, 0x20, 8);
  books.free(4, 2, 0x10);
  CHECK(books.totals().temporary_blocks == 1);
  books.finish(9);
}

}  // namespace
}  // namespace heapprof::cli
