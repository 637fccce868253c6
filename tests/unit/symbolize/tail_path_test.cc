// tests/unit/symbolize/tail_path_test.cc: the only way by jumps: where there is one, and what makes it doubtful.
#include "cli/symbolize/tail_path.h"

#include <catch2/catch.hpp>

#include <map>
#include <vector>

using heapprof::cli::find_only_path;
using heapprof::cli::Jumps;

namespace {

using Path = std::vector<uint64_t>;

class Functions {
 public:
  Functions& jumps(uint64_t from, std::vector<uint64_t> to) {
    functions_[from] = {true, std::move(to)};
    return *this;
  }
  Functions& jumps_anywhere(uint64_t from, std::vector<uint64_t> known = {}) {
    functions_[from] = {false, std::move(known)};
    return *this;
  }
  Path find(uint64_t first, uint64_t end, size_t most = 1'000'000) {
    return find_only_path(
        first, end,
        [this](uint64_t function) -> const Jumps& {
          ++asked_;
          return functions_[function];  // what was not named jumps anywhere
        },
        most);
  }
  size_t asked() const { return asked_; }

 private:
  std::map<uint64_t, Jumps> functions_;
  size_t asked_ = 0;
};

}  // namespace

TEST_CASE("the functions between the first and the end are the path") {
  Functions functions;
  functions.jumps(1, {2}).jumps(2, {3}).jumps(3, {9}).jumps(9, {});
  CHECK(functions.find(1, 9) == Path{1, 2, 3});
  CHECK(functions.find(3, 9) == Path{3});
}

TEST_CASE("a function that is called itself left nobody") {
  Functions functions;
  functions.jumps(9, {});
  CHECK(functions.find(9, 9).empty());
}

TEST_CASE("jumps that lead elsewhere and end there are no second path") {
  Functions functions;
  functions.jumps(1, {2, 5}).jumps(2, {9, 6}).jumps(5, {6}).jumps(6, {}).jumps(9, {});
  CHECK(functions.find(1, 9) == Path{1, 2});
}

TEST_CASE("two jumps to one function are one way") {
  Functions functions;
  functions.jumps(1, {9, 9}).jumps(9, {});
  CHECK(functions.find(1, 9) == Path{1});
}

TEST_CASE("two ways are no path") {
  SECTION("side by side") {
    Functions functions;
    functions.jumps(1, {2, 3}).jumps(2, {9}).jumps(3, {9}).jumps(9, {});
    CHECK(functions.find(1, 9).empty());
  }
  SECTION("one past the other") {
    Functions functions;
    functions.jumps(1, {2, 9}).jumps(2, {9}).jumps(9, {});
    CHECK(functions.find(1, 9).empty());
  }
  SECTION("behind a common beginning") {
    Functions functions;
    functions.jumps(1, {2}).jumps(2, {3, 4}).jumps(3, {5}).jumps(4, {5}).jumps(5, {9}).jumps(9, {});
    CHECK(functions.find(1, 9).empty());
  }
}

TEST_CASE("nobody knows how often a circle was gone round") {
  SECTION("of two") {
    Functions functions;
    functions.jumps(1, {2}).jumps(2, {1, 9}).jumps(9, {});
    CHECK(functions.find(1, 9).empty());
  }
  SECTION("of one") {
    Functions functions;
    functions.jumps(1, {1, 9}).jumps(9, {});
    CHECK(functions.find(1, 9).empty());
  }
  SECTION("beside the way, and back to it") {
    Functions functions;
    functions.jumps(1, {2}).jumps(2, {9, 3}).jumps(3, {2}).jumps(9, {});
    CHECK(functions.find(1, 9).empty());
  }
  SECTION("through the end") {
    Functions functions;
    functions.jumps(1, {9}).jumps(9, {3}).jumps(3, {9});
    CHECK(functions.find(1, 9).empty());
  }
  SECTION("of the end alone") {
    Functions functions;
    functions.jumps(1, {9}).jumps(9, {9});
    CHECK(functions.find(1, 9).empty());
  }
  SECTION("but one that leads nowhere is no matter") {
    Functions functions;
    functions.jumps(1, {2, 9}).jumps(2, {3}).jumps(3, {2}).jumps(9, {});
    CHECK(functions.find(1, 9) == Path{1});
  }
}

TEST_CASE("a function that may jump anywhere makes every path doubtful") {
  Functions functions;
  functions.jumps(1, {2, 5}).jumps(2, {9}).jumps_anywhere(5).jumps(9, {});
  CHECK(functions.find(1, 9).empty());
  CHECK(functions.find(5, 9).empty());
  CHECK(functions.find(2, 9) == Path{2});
  functions.jumps_anywhere(2, {9});
  CHECK(functions.find(2, 9).empty());
}

TEST_CASE("where the end jumps to is its own affair") {
  Functions functions;
  functions.jumps(1, {9}).jumps_anywhere(9, {7}).jumps_anywhere(7);
  CHECK(functions.find(1, 9) == Path{1});
  functions.jumps_anywhere(7, {9});
  CHECK(functions.find(1, 9).empty());
}

TEST_CASE("without a way there is no path") {
  Functions functions;
  functions.jumps(1, {2}).jumps(2, {}).jumps(9, {1});
  CHECK(functions.find(1, 9).empty());
  CHECK(functions.find(2, 9).empty());
}

TEST_CASE("100,000 functions in a row, in a fan and in a circle are looked at a few times each") {
  constexpr uint64_t kMany = 100'000;
  Functions row;
  for (uint64_t i = 1; i < kMany; ++i) row.jumps(i, {i + 1});
  row.jumps(kMany, {});
  CHECK(row.find(1, kMany).size() == kMany - 1);
  CHECK(row.asked() <= 3 * kMany);

  Functions fan;
  std::vector<uint64_t> all;
  for (uint64_t i = 2; i < kMany; ++i) {
    all.push_back(i);
    fan.jumps(i, {});
  }
  fan.jumps(1, all).jumps(kMany, {});
  fan.jumps(77'777, {kMany});
  CHECK(fan.find(1, kMany) == Path{1, 77'777});
  CHECK(fan.asked() <= 3 * kMany);

  row.jumps(kMany - 1, {kMany, 1});
  CHECK(row.find(1, kMany).empty());
}

TEST_CASE("no more functions are looked at than were allowed") {
  Functions row;
  for (uint64_t i = 1; i < 100; ++i) row.jumps(i, {i + 1});
  row.jumps(100, {});
  CHECK(row.find(1, 100, 98).empty());
  CHECK(row.find(1, 100, 99).size() == 99);
  Functions endless;
  for (uint64_t i = 1; i < 2000; ++i) endless.jumps(i, {i + 1});
  CHECK(endless.find(1, 1'000'000, 50).empty());
  CHECK(endless.asked() <= 50);
}
