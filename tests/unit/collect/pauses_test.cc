// tests/unit/collect/pauses_test.cc: blocks of threads that paused: in no sum, found by their ends, told from those
// around them at their address, also where events come out of order.
#include "shared/scopes.h"
#include "tests/support/ledger_books.h"

#include <catch2/catch.hpp>

namespace heapprof::cli {
namespace {

class Books : public test::Books {
 public:
  using test::Books::Books;
  void pause(uint64_t stamp, uint32_t thread) { scope(stamp, thread, wire::ScopeOperation::kPause); }
  void resume(uint64_t stamp, uint32_t thread) { scope(stamp, thread, wire::ScopeOperation::kResume); }
  // The sums agree, and so much is recorded and left out.
  void finish(Amount live, Amount left_out, uint64_t left_out_live_bytes) {
    test::Books::finish(1'000'000);
    CHECK(ledger.sites().totals().live.bytes == live.bytes);
    CHECK(ledger.sites().totals().live.blocks == live.blocks);
    CHECK(ledger.counts().left_out.bytes == left_out.bytes);
    CHECK(ledger.counts().left_out.blocks == left_out.blocks);
    uint64_t bytes = 0;
    ledger.for_each_left_out([&](uint64_t, uint64_t size_bytes) { bytes += size_bytes; });
    CHECK(bytes == left_out_live_bytes);
    CHECK(ledger.counts().foreign == 0);
    CHECK(ledger.counts().unseen_frees == 0);
  }

 private:
  void scope(uint64_t stamp, uint32_t thread, wire::ScopeOperation operation) {
    send(stamp, thread, EventKind::kScope, wire::pack_scope(operation, 0, 0), stamp);
  }
};

}  // namespace

TEST_CASE("what a thread allocates in its pauses is left out, and what others do is not") {
  Books books;
  books.malloc(1, 1, 0x10, 100);
  books.pause(2, 1);
  books.pause(3, 1);
  books.malloc(4, 1, 0x20, 1);
  books.resume(5, 1);
  books.malloc(6, 1, 0x30, 2);
  books.malloc(7, 2, 0x40, 30);  // another thread
  books.free(8, 1, 0x10);        // a free is a free
  books.resume(9, 1);
  books.resume(10, 1);  // of nothing
  books.malloc(11, 1, 0x50, 5);
  books.free(12, 2, 0x20);
  books.malloc(13, 2, 0x20, 7);  // the same address, and recorded
  books.finish({42, 3}, {3, 2}, 2);
  CHECK(books.ledger.sites().totals().peak.bytes == 130);
  CHECK(books.ledger.counts().left_out_ended == 1);
  CHECK(books.threads.at(1).total_bytes == 105);
}

TEST_CASE("a realloc makes a block that is left out in a pause, and one that is recorded outside") {
  Books books;
  books.malloc(1, 1, 0x10, 100);
  books.pause(2, 1);
  SECTION("of a recorded one") {
    books.begin(3, 1, 0x10);
    books.end(4, 1, 0x10, 200);
    books.finish({0, 0}, {200, 1}, 200);
  }
  SECTION("of one that was left out") {
    books.malloc(3, 1, 0x20, 7);
    books.begin(4, 1, 0x20);
    books.end(5, 1, 0x30, 8);
    books.resume(6, 1);
    books.begin(7, 1, 0x30);
    books.malloc(8, 2, 0x30, 1);  // has the address meanwhile
    books.end(9, 1, 0x40, 9);
    books.finish({110, 3}, {15, 2}, 0);
    CHECK(books.ledger.counts().left_out_ended == 2);
  }
  SECTION("of one that was left out, which fails") {
    books.malloc(3, 1, 0x20, 7);
    books.begin(4, 2, 0x20);
    books.cancel(5, 2);
    books.finish({100, 1}, {7, 1}, 7);
  }
  SECTION("of one that was left out, to no bytes") {
    books.malloc(3, 1, 0x20, 7);
    books.begin(4, 2, 0x20);
    books.free_begun(5, 2);
    books.finish({100, 1}, {7, 1}, 0);
  }
}

TEST_CASE("events of blocks in pauses may come out of order") {
  Books books(1000);
  SECTION("a begin in a pause before the end of a recorded block") {
    books.malloc(10, 1, 0x10, 100);
    books.pause(11, 2);
    books.malloc(19, 2, 0x10, 70);
    books.resume(19, 2);
    books.free(20, 1, 0x10);
    books.finish({0, 0}, {70, 1}, 70);
  }
  SECTION("a recorded begin before the end of a block that was left out") {
    books.pause(9, 1);
    books.malloc(10, 1, 0x10, 100);
    books.malloc(19, 2, 0x10, 70);
    books.free(20, 1, 0x10);
    books.finish({70, 1}, {100, 1}, 0);
  }
  SECTION("a realloc onto a block that was left out, before its end") {
    books.pause(9, 1);
    books.malloc(10, 1, 0x10, 100);
    books.malloc(11, 2, 0x20, 5);
    books.begin(12, 2, 0x20);
    books.end(19, 2, 0x10, 70);
    books.free(20, 1, 0x10);
    books.finish({70, 1}, {100, 1}, 0);
  }
  SECTION("an end before its begin in a pause") {
    books.pause(1, 2);
    books.free(19, 1, 0x10);
    books.malloc(20, 2, 0x10, 100);
    books.finish({0, 0}, {100, 1}, 0);
  }
  SECTION("a realloc before the begin in a pause") {
    books.pause(1, 2);
    books.begin(18, 1, 0x10);
    SECTION("that ends after it") {
      books.malloc(19, 2, 0x10, 100);
      books.end(20, 1, 0x20, 7);
    }
    SECTION("that ends before it") {
      books.end(19, 1, 0x20, 7);
      books.malloc(20, 2, 0x10, 100);
    }
    books.finish({7, 1}, {100, 1}, 0);
  }
  SECTION("a realloc in a pause before the recorded begin") {
    books.pause(1, 1);
    books.begin(18, 1, 0x10);
    books.end(19, 1, 0x20, 7);
    books.malloc(20, 2, 0x10, 100);
    books.finish({0, 0}, {7, 1}, 7);
  }
}

}  // namespace heapprof::cli
