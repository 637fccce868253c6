// tests/unit/collect/ledger_order_test.cc: events of one address that come out of order: every pair that can be
// inverted, and what waits in vain.
#include "tests/support/ledger_books.h"

namespace heapprof::cli {
namespace {

using test::Books;

TEST_CASE("a begin stamped before its address's end waits for it") {
  Books books(1000);
  books.malloc(10, 1, 0x10, 100);
  books.malloc(19, 2, 0x10, 70, 2);  // thread 1 freed it at 20
  CHECK(books.totals().live.bytes == 100);
  books.free(20, 1, 0x10);
  CHECK(books.totals().live.bytes == 70);
  books.finish(30);
  CHECK(books.counts().reordered == 1);
  CHECK(books.counts().unseen_frees == 0);
  CHECK(books.totals().peak.bytes == 100);
}

TEST_CASE("an end stamped before its address's begin waits for it") {
  Books books(1000);
  books.free(10, 2, 0x10);
  CHECK(books.counts().foreign == 0);
  books.malloc(11, 1, 0x10, 100);
  CHECK(books.totals().live.blocks == 0);
  CHECK(books.ledger.sites().total().blocks == 1);
  books.finish(30);
  CHECK(books.counts().reordered == 1);
  CHECK(books.counts().foreign == 0);
  CHECK(books.counts().frees == 1);
}

TEST_CASE("a realloc stamped before its block's begin waits for it") {
  Books books(1000);
  books.begin(10, 2, 0x10);
  SECTION("which comes before the end") {
    books.malloc(11, 1, 0x10, 100);
    books.end(20, 2, 0x20, 150);
    CHECK(books.totals().live.bytes == 150);
  }
  SECTION("which comes after the end") {
    books.end(11, 2, 0x20, 150);
    books.malloc(12, 1, 0x10, 100);
    CHECK(books.totals().live.bytes == 150);
  }
  SECTION("which comes after a cancel") {
    books.cancel(11, 2);
    books.malloc(12, 1, 0x10, 150);
    CHECK(books.totals().live.bytes == 150);
  }
  books.finish(30);
  CHECK(books.counts().foreign == 0);
  CHECK(books.totals().live.bytes == 150);
  CHECK(books.totals().temporary_blocks == 0);
}

TEST_CASE("realloc to nothing, stamped before the block's begin") {
  Books books(1000);
  books.begin(10, 2, 0x10);
  books.free_begun(11, 2);
  books.malloc(12, 1, 0x10, 100);
  books.finish(30);
  CHECK(books.totals().live.blocks == 0);
  CHECK(books.counts().frees == 1);
  CHECK(books.counts().foreign == 0);
}

TEST_CASE("a realloc's new block waits for its address's end") {
  Books books(1000);
  books.malloc(1, 1, 0x10, 100);
  books.malloc(2, 2, 0x20, 50);
  books.begin(3, 1, 0x10);
  books.end(9, 1, 0x20, 200);
  CHECK(books.totals().live.bytes == 50);
  books.free(10, 2, 0x20);
  CHECK(books.totals().live.bytes == 200);
  books.finish(30);
  CHECK(books.counts().allocations == 3);
}

TEST_CASE("an end that came before a begin in the same ring is not its end") {
  Books books(1000);
  books.free(10, 1, 0x10);
  books.malloc(11, 1, 0x10, 100);
  CHECK(books.totals().live.blocks == 1);
  books.finish(30);
  CHECK(books.counts().reordered == 0);
  CHECK(books.counts().foreign == 1);
}

// jemalloc gives a thread the block that it has just freed. Where the core that does so reads its counter ahead, both
// of these come before the first block's begin, which another thread wrote.
TEST_CASE("an end and the next begin of its ring, both stamped before its address's begin, wait for it") {
  Books books(1000);
  books.malloc(5, 1, 0x20, 100);  // thread 1's latest until then
  books.free(10, 2, 0x10);
  books.malloc(11, 2, 0x10, 70, 2);
  CHECK(books.totals().live.bytes == 170);
  const uint32_t site = GENERATE(1u, 2u);
  books.malloc(12, 1, 0x10, 70, site);
  CHECK(books.totals().live.bytes == 170);
  CHECK(books.ledger.sites()[2].live.blocks == 1);
  CHECK(books.ledger.sites()[2].max.blocks == 1);
  CHECK(books.ledger.sites()[site].total.blocks == 2);
  CHECK(books.totals().peak.bytes == 170);
  books.free(20, 1, 0x10);
  CHECK(books.totals().live.bytes == 100);
  books.free(21, 1, 0x20);
  books.finish(30);
  CHECK(books.counts().reordered == 1);
  CHECK(books.counts().foreign == 0);
  CHECK(books.counts().unseen_frees == 0);
  CHECK(books.counts().allocations == 3);
  CHECK(books.counts().frees == 3);
  CHECK(books.totals().temporary_blocks == 2);
}

TEST_CASE("the same of a block that came of a realloc, and of one that a realloc ended") {
  Books books(1000);
  books.malloc(1, 1, 0x20, 40);
  SECTION("the begin is a realloc's end") {
    books.begin(2, 1, 0x20);
    books.free(10, 2, 0x10);
    books.malloc(11, 2, 0x10, 70);
    books.end(12, 1, 0x10, 50);
    CHECK(books.totals().live.bytes == 70);
    CHECK(books.totals().temporary_blocks == 1);
  }
  SECTION("the end is a realloc's begin") {
    books.begin(10, 2, 0x10);
    books.end(11, 2, 0x30, 60);
    books.malloc(12, 2, 0x10, 70);
    books.malloc(13, 1, 0x10, 50);
    CHECK(books.totals().live.bytes == 40 + 60 + 70);
    CHECK(books.totals().temporary_blocks == 0);
  }
  CHECK(books.counts().reordered == 1);
  books.finish(30);
  CHECK(books.counts().foreign == 0);
  CHECK(books.counts().unseen_frees == 0);
}

TEST_CASE("a block that lives on, as its realloc failed, has its end and the next begin there before that is told") {
  Books books(1000);
  books.malloc(1, 1, 0x10, 50);
  books.begin(5, 1, 0x10);
  books.free(10, 2, 0x10);
  books.malloc(11, 2, 0x10, 70);
  books.cancel(12, 1);
  CHECK(books.totals().live.bytes == 70);
  CHECK(books.counts().reordered == 1);
  books.finish(30);
  CHECK(books.counts().foreign == 0);
  CHECK(books.counts().unseen_frees == 0);
  CHECK(books.counts().frees == 1);
}

TEST_CASE("a realloc's begin that was passed and whose block's begin does not come was foreign") {
  Books books(1000);
  books.begin(10, 2, 0x10);
  books.end(11, 2, 0x30, 60);
  books.malloc(12, 2, 0x10, 70);
  books.finish(5000);
  CHECK(books.counts().foreign == 1);
  CHECK(books.totals().live.bytes == 60 + 70);
}

TEST_CASE("an end that was passed and whose begin does not come was foreign") {
  Books books(10'000);
  books.free(10, 2, 0x10);
  books.malloc(11, 2, 0x10, 70, 2);
  SECTION("as the next one there is far later: it waits for the end of the live one") {
    books.malloc(6000, 1, 0x10, 70);
    books.free(6001, 2, 0x10);
  }
  SECTION("as the next one there is of its own ring") {
    books.malloc(12, 2, 0x10, 70);
    books.free(13, 1, 0x10);
  }
  CHECK(books.totals().live.blocks == 1);
  books.finish(20'000);
  CHECK(books.counts().foreign == 1);
  CHECK(books.totals().live.blocks == 1);
}

TEST_CASE("a child's free of its parent's block is no end of the next one there") {
  Books books(30'000);
  books.ledger.set_inherits();
  books.free(100, 2, 0x10);
  books.begin(100, 2, 0x20);
  books.malloc(101, 1, 0x10, 100);
  books.malloc(101, 1, 0x20, 50);
  books.end(112, 2, 0x50, 60);
  books.free(200, 2, 0x30);
  books.malloc(211, 1, 0x30, 70);
  books.free(300, 2, 0x40);
  books.end(311, 1, 0x40, 80);
  CHECK(books.totals().live.blocks == 5);
  books.free(320, 2, 0x30);
  books.finish(400);
  CHECK(books.totals().live.bytes == 100 + 50 + 60 + 80);
}

TEST_CASE("what waits longer than the window was not recorded") {
  Books books(1000);
  books.malloc(10, 1, 0x10, 100);
  books.malloc(20, 2, 0x10, 70, 2);
  books.free(20, 2, 0x20);
  books.begin(20, 2, 0x30);
  books.malloc(1020, 1, 0x90, 1);  // still inside
  CHECK(books.counts().unseen_frees == 0);
  CHECK(books.counts().foreign == 0);
  books.malloc(1021, 1, 0xa0, 1);
  CHECK(books.counts().unseen_frees == 1);
  CHECK(books.counts().foreign == 1);
  books.end(1022, 2, 0x30, 5);
  CHECK(books.counts().foreign == 2);
  books.finish(2000);
  CHECK(books.totals().live.bytes == 70 + 1 + 1 + 5);
  CHECK(books.counts().reordered == 0);
}

TEST_CASE("what still waits at the end is settled there") {
  Books books(1000);
  books.malloc(10, 1, 0x10, 100);
  books.malloc(20, 2, 0x10, 70, 2);
  books.free(20, 2, 0x20);
  books.begin(20, 3, 0x40);
  books.end(21, 3, 0x50, 3);
  books.finish(30);
  CHECK(books.counts().unseen_frees == 1);
  CHECK(books.counts().foreign == 2);
  CHECK(books.totals().live.bytes == 73);
}

}  // namespace
}  // namespace heapprof::cli
