// tests/unit/collect/scope_bounds_test.cc: the books of scopes keep to their memory: what there is no room for is
// counted, and takes nothing from what there is.
#include "cli/collect/books/scope_book.h"
#include "shared/scopes.h"
#include "shared/wire.h"

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

TEST_CASE("more ways than there is room for are one, and nothing of them is lost") {
  ScopeBook book;
  constexpr uint32_t kMore = ScopeBook::kMostPaths + 3000;
  uint32_t stack = book.begin(0, 1, 1, 5);
  for (uint32_t i = 0; i < kMore; ++i) {
    stack = book.begin(stack, 10 + i, 2 + i, 5);
    book.allocate(stack, {3, 1});
    stack = book.end(stack, 2 + i, 6);
  }
  stack = book.end(stack, 1, 7);
  CHECK(book.paths().size() <= ScopeBook::kMostPaths + 1);
  uint64_t begun = 0, ended = 0, bytes = 0;
  for (const ScopePath& path : book.paths()) {
    begun += path.begun;
    ended += path.ended;
    bytes += path.host.allocated.bytes;
  }
  CHECK(begun == kMore + 1);
  CHECK(ended == kMore + 1);
  CHECK(bytes == kMore * 3);
  const ScopePath& others = only(book, wire::kOtherName);
  CHECK(others.parent == 0);
  CHECK(others.begun == kMore - (ScopeBook::kMostPaths - 2));
}

// Those that were not kept end first, each of them where a million are open.
TEST_CASE("more open scopes than there is room for are counted, and their ends end nothing") {
  ScopeBook book;
  constexpr uint64_t kMore = ScopeBook::kMostOpen + 100'000;
  uint32_t stack = 0;
  for (uint64_t id = 1; id <= kMore; ++id) stack = book.begin(stack, id == 1 ? 1 : 2, id, 5);
  CHECK(book.lost() == 100'000);
  book.allocate(stack, {10, 1});
  for (uint64_t id = kMore; id > 1; --id) stack = book.end(stack, id, 6);
  book.allocate(stack, {7, 1});
  CHECK(only(book, 1).host.allocated.bytes == 7);
  CHECK(book.end(stack, 1, 7) == 0);
  uint64_t ended = 0;
  for (const ScopePath& path : book.paths()) ended += path.ended;
  CHECK(ended == ScopeBook::kMostOpen);
  stack = book.begin(0, 1, kMore + 1, 8);  // there is room again
  CHECK(book.lost() == 100'000);
}

TEST_CASE("more marks than there is room for are counted") {
  ScopeBook book;
  for (size_t i = 0; i < ScopeBook::kMostMarks + 5; ++i) book.mark({1, 2, i, {{0, {i, 1}}}});
  CHECK(book.marks().size() == ScopeBook::kMostMarks);
  CHECK(book.marks().back().ticks == ScopeBook::kMostMarks - 1);
  CHECK(book.lost_marks() == 5);
}

}  // namespace heapprof::cli
