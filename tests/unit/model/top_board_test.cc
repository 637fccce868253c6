// tests/unit/model/top_board_test.cc: what a watcher knows: growth over a window, rates, rows by place, findings.
#include "cli/model/top/top_board.h"

#include "cli/model/top/top_findings.h"
#include "cli/model/top/top_table.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace heapprof::cli;

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 5'000 * kSecond;

TopSite site(uint32_t number, uint64_t live_bytes, uint64_t total_blocks, uint64_t temporary_blocks = 0) {
  return {0, number, live_bytes, live_bytes / 100, total_blocks * 100, total_blocks, temporary_blocks};
}

TopSample sample(uint64_t live_bytes, std::vector<TopSite> sites) {
  TopSample made;
  made.age_ns = kSecond;
  made.is_whole = true;
  made.devices.push_back({0, "host", live_bytes, 1, live_bytes, 0, 0, 0});
  made.sites = std::move(sites);
  return made;
}

TopNames names_of_three() { return {{{"load", "a.cc:1"}, {"Cache::put", "b.cc:2"}}, {0, 1, 1, 2}}; }

const TopRow* find_row(const std::vector<TopRow>& rows, uint32_t place) {
  for (const TopRow& row : rows) {
    if (row.place == place) return &row;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("what the first sample tells is no growth, what comes after it is") {
  TopBoard board;
  board.take(sample(300, {site(1, 100, 1), site(2, 200, 2)}), kStart);
  CHECK(board.rows(0).at(0).numbers.growth_bytes == 0);
  CHECK(board.interval_ns() == 0);
  board.take(sample(450, {site(2, 150, 3), site(3, 200, 2)}), kStart + kSecond);
  board.take_names(names_of_three());
  const std::vector<TopRow> rows = board.rows(0);
  REQUIRE(find_row(rows, 1) != nullptr);
  CHECK(find_row(rows, 1)->numbers.growth_bytes == -50);
  CHECK(find_row(rows, 1)->numbers.live_bytes == 250);
  CHECK(find_row(rows, 1)->numbers.new_blocks == 1);
  CHECK(find_row(rows, 2)->numbers.growth_bytes == 200);
  CHECK(find_row(rows, 2)->numbers.new_blocks == 2);
  CHECK(board.interval_ns() == kSecond);
  CHECK(board.devices()[0].sum.growth_bytes == 150);
}

TEST_CASE("growth leaves with the window") {
  TopBoard board;
  board.take(sample(100, {site(1, 100, 1)}), kStart);
  board.take(sample(300, {site(1, 300, 2)}), kStart + kSecond);
  board.take(sample(350, {site(1, 350, 3)}), kStart + 6 * kSecond);
  CHECK(board.rows(0)[0].numbers.growth_bytes == 250);
  board.take(sample(350, {}), kStart + 10 * kSecond);
  CHECK(board.rows(0)[0].numbers.growth_bytes == 250);
  board.take(sample(350, {}), kStart + 11 * kSecond);
  CHECK(board.rows(0)[0].numbers.growth_bytes == 50);
  board.take(sample(350, {}), kStart + 16 * kSecond);
  CHECK(board.rows(0)[0].numbers.growth_bytes == 0);
  CHECK(board.window_ns() == kTopWindowNs);
}

TEST_CASE("a site that says nothing has made nothing new") {
  TopBoard board;
  board.take(sample(100, {site(1, 100, 1)}), kStart);
  board.take(sample(100, {site(1, 100, 50)}), kStart + kSecond);
  CHECK(board.rows(0)[0].numbers.new_blocks == 49);
  CHECK(board.devices()[0].sum.new_blocks == 49);
  board.take(sample(100, {}), kStart + 2 * kSecond);
  CHECK(board.rows(0)[0].numbers.new_blocks == 0);
  CHECK(board.devices()[0].sum.new_blocks == 0);
}

TEST_CASE("a sample in parts is one") {
  TopBoard board;
  TopSample part = sample(300, {site(1, 100, 1)});
  part.is_whole = false;
  board.take(part, kStart);
  CHECK_FALSE(board.has_sample());
  board.take(sample(300, {site(2, 200, 2)}), kStart + 5);
  CHECK(board.samples() == 1);
  CHECK(board.rows(0)[0].numbers.live_bytes == 300);
  CHECK(board.rows(0)[0].numbers.growth_bytes == 0);
}

TEST_CASE("sites without a name have one row, until they have one") {
  TopBoard board;
  board.take(sample(300, {site(1, 100, 1), site(3, 200, 2)}), kStart);
  CHECK(board.lacks_names());
  REQUIRE(board.rows(0).size() == 1);
  CHECK(place_of_row(board, board.rows(0)[0]).function == kTopUnnamed);
  board.take_names(names_of_three());
  CHECK_FALSE(board.lacks_names());
  CHECK(board.rows(0).size() == 2);
  board.take(sample(700, {site(9, 400, 1)}), kStart + kSecond);
  CHECK(board.lacks_names());
  CHECK(find_row(board.rows(0), 0)->numbers.growth_bytes == 400);
}

TEST_CASE("rows are sorted by what was chosen, and those that are alike by name") {
  TopBoard board;
  TopNames names = {{{"b", "x.cc:1"}, {"a", "x.cc:2"}, {"c", "x.cc:3"}}, {0, 1, 2, 3}};
  board.take(sample(300, {site(1, 100, 1), site(2, 100, 1), site(3, 300, 9)}), kStart);
  board.take(sample(300, {site(1, 100, 90), site(3, 200, 10)}), kStart + kSecond);
  board.take_names(names);
  const auto order = [&](TopSort sort, const char* filter) {
    std::string functions;
    for (const TopRow& row : choose_top_rows(board, 0, sort, filter)) functions += place_of_row(board, row).function;
    return functions;
  };
  CHECK(order(TopSort::kLive, "") == "cab");
  CHECK(order(TopSort::kGrowth, "") == "abc");
  CHECK(order(TopSort::kAllocations, "") == "bca");
  CHECK(order(TopSort::kLive, "X.CC:3") == "c");
  CHECK(order(TopSort::kLive, "nothing").empty());
}

TEST_CASE("a place that rises without a fall is found, one that falls once is not") {
  TopBoard board;
  board.take_names(names_of_three());
  constexpr uint64_t kStep = 200'000;
  for (uint64_t i = 0; i <= 12; ++i) {
    const uint64_t falls = i == 6 ? 1 : i;
    board.take(sample(40'000'000, {site(1, kStep * i, i + 1), site(3, kStep * falls, i + 1)}), kStart + i * kSecond);
  }
  const std::vector<TopFinding> findings = find_top_findings(board);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == TopFindingKind::kGrows);
  CHECK(findings[0].place.function == "load");
  CHECK(findings[0].bytes == 12 * kStep);
  CHECK(findings[0].time_ns == 12 * kSecond);
}

TEST_CASE("churn, limits, refusals and losses are found, in their order") {
  TopBoard board;
  board.take_names(names_of_three());
  board.take(sample(95, {site(1, 10, 1)}), kStart);
  TopSample next = sample(95, {site(1, 10, 20'001, 19'000), site(3, 10, 20'001, 17'000)});
  next.devices[0].limit_bytes = 100;
  next.devices[0].refused_count = 3;
  next.lost_count = 7;
  board.take(next, kStart + kSecond);
  std::string kinds;
  for (const TopFinding& finding : find_top_findings(board)) kinds += std::string(finding_word(finding.kind)) + " ";
  CHECK(kinds == "lost refused limit churn ");
}

TEST_CASE("hostile numbers cost no memory and wrap") {
  TopBoard board;
  board.take(sample(UINT64_MAX, {site(UINT32_MAX, 5, 5), site(1, UINT64_MAX, UINT64_MAX)}), kStart);
  board.take(sample(0, {site(1, 1, 0)}), kStart + kSecond);
  CHECK(board.rows(0).empty());
  CHECK(board.devices()[0].sum.growth_bytes == 2);
  CHECK(rate_per_second(UINT64_MAX, 1) == UINT64_MAX);
  CHECK(rate_per_second(5, 0) == 0);
}
