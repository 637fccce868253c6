// tests/unit/collect/scope_ends_test.cc: scopes that end in the midst of others, elsewhere, or apart from all, one by
// one (scope_book_test.cc has them at random).
#include "cli/collect/books/scope_book.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace heapprof::cli {
namespace {

const ScopePath& only(const ScopeBook& book, uint32_t name) {
  const auto at = std::find_if(book.paths().begin() + 1, book.paths().end(),
                               [name](const ScopePath& path) { return path.name == name; });
  REQUIRE(at != book.paths().end());
  return *at;
}

}  // namespace

TEST_CASE("a scope that ends alone leaves those inside of it open, and what they do is the outer one's") {
  ScopeBook book;
  uint32_t stack = book.begin(0, 1, 11, 100);
  stack = book.begin(stack, 2, 12, 110);
  stack = book.begin(stack, 3, 13, 120);
  book.allocate(stack, {50, 1});
  stack = book.end_only(stack, 12, 150);
  book.allocate(stack, {7, 1});
  stack = book.end_only(stack, 13, 200);
  CHECK(book.end_only(stack, 11, 300) == 0);
  CHECK(book.end_only(0, 11, 300) == 0);
  CHECK(book.end_only(0, 0, 300) == 0);
  CHECK(book.unmatched_ends() == 2);
  CHECK(only(book, 2).ended == 1);
  CHECK(only(book, 2).left_open == 0);
  CHECK(only(book, 2).ticks == 40);
  CHECK(only(book, 2).own_ticks == 10);
  CHECK(only(book, 2).host.peak_inside_bytes == 50);
  CHECK(only(book, 3).ticks == 80);
  CHECK(only(book, 3).host.allocated.bytes == 57);
  CHECK(only(book, 1).ticks == 200);
  CHECK(only(book, 1).own_ticks == 110);  // without 110 … 200
  CHECK(only(book, 1).host.peak_inside_bytes == 57);
}

TEST_CASE("a scope apart has a time, whoever ends it, and no memory") {
  ScopeBook book;
  const uint32_t stack = book.begin(0, 1, 11, 100);
  book.begin_apart(2, 12, 110);
  book.allocate(stack, {50, 1});
  CHECK(book.enter(0, 12, 120) == 0);  // nobody is in it
  book.add_items(0, 12, 9);
  CHECK(book.end_only(0, 12, 150) == 0);
  book.begin_apart(2, 13, 160);
  CHECK(book.end(0, 13, 170) == 0);
  book.begin_apart(2, 14, 180);  // never ended
  book.finish(0);
  CHECK(only(book, 2).parent == 0);
  CHECK(only(book, 2).begun == 3);
  CHECK(only(book, 2).ended == 2);
  CHECK(only(book, 2).ticks == 50);
  CHECK(only(book, 2).items == 9);
  CHECK(only(book, 2).host.allocated.bytes == 0);
  CHECK(only(book, 1).host.allocated.bytes == 50);
}

TEST_CASE("the inner scope of one that was left ends by its own end") {
  ScopeBook book;
  uint32_t stack = book.begin(0, 1, 11, 100);
  stack = book.begin(stack, 2, 12, 110);
  stack = book.leave(stack, 11, 150);
  CHECK(stack == 0);
  book.add_items(stack, 12, 9);
  CHECK(book.end(0, 12, 900) == 0);
  CHECK(book.end(0, 11, 1000) == 0);
  CHECK(only(book, 2).ended == 1);
  CHECK(only(book, 2).items == 9);
  CHECK(only(book, 2).ticks == 40);
  CHECK(only(book, 1).ended == 1);
  CHECK(only(book, 1).ticks == 50);
  CHECK(only(book, 1).own_ticks == 10);
}

TEST_CASE("a thread whose scopes another one ended is in none, and goes on") {
  ScopeBook book;
  uint32_t mine = book.begin(0, 1, 11, 100);
  CHECK(book.end(0, 11, 130) == 0);
  CHECK(only(book, 1).ticks == 30);
  book.allocate(mine, {50, 1});  // in none
  book.free(mine, {50, 1});
  CHECK(only(book, 1).host.allocated.bytes == 0);
  mine = book.begin(mine, 1, 12, 140);
  book.allocate(mine, {60, 1});
  CHECK(book.end(mine, 12, 150) == 0);
  CHECK(only(book, 1).host.allocated.bytes == 60);
  CHECK(only(book, 1).ended == 2);
}

}  // namespace heapprof::cli
