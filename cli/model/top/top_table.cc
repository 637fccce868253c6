// cli/model/top/top_table.cc: see top_table.h.
#include "cli/model/top/top_table.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <tuple>

namespace heapprof::cli {

namespace {

bool has_text(std::string_view text, std::string_view wanted) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), same) != text.end();
}

int64_t weight(const TopNumbers& numbers, TopSort sort) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  switch (sort) {
    case TopSort::kGrowth: return numbers.growth_bytes;
    case TopSort::kAllocations: return static_cast<int64_t>(std::min(numbers.new_blocks, kMost));
    case TopSort::kLive: break;
  }
  return static_cast<int64_t>(std::min(numbers.live_bytes, kMost));
}

}  // namespace

TopPlace place_of_row(const TopBoard& board, const TopRow& row) {
  if (row.place == 0 || row.place > board.places().size()) return {std::string(kTopUnnamed), ""};
  return board.places()[row.place - 1];
}

std::vector<TopRow> choose_top_rows(const TopBoard& board, uint32_t device_number, TopSort sort,
                                    std::string_view filter) {
  std::vector<TopRow> rows = board.rows(device_number);
  if (!filter.empty()) {
    std::erase_if(rows, [&](const TopRow& row) {
      const TopPlace place = place_of_row(board, row);
      return !has_text(place.function, filter) && !has_text(place.location, filter);
    });
  }
  std::sort(rows.begin(), rows.end(), [&](const TopRow& a, const TopRow& b) {
    const int64_t weight_a = weight(a.numbers, sort);
    const int64_t weight_b = weight(b.numbers, sort);
    if (weight_a != weight_b) return weight_a > weight_b;
    if (a.numbers.live_bytes != b.numbers.live_bytes) return a.numbers.live_bytes > b.numbers.live_bytes;
    const TopPlace place_a = place_of_row(board, a);
    const TopPlace place_b = place_of_row(board, b);
    return std::tie(place_a.function, place_a.location, a.place) <
           std::tie(place_b.function, place_b.location, b.place);
  });
  return rows;
}

uint64_t rate_per_second(uint64_t count, uint64_t interval_ns) {
  __extension__ using Wide = unsigned __int128;
  if (interval_ns == 0) return 0;
  const Wide rate = (Wide{count} * 1'000'000'000 + interval_ns / 2) / interval_ns;
  return rate > std::numeric_limits<uint64_t>::max() ? std::numeric_limits<uint64_t>::max()
                                                     : static_cast<uint64_t>(rate);
}

}  // namespace heapprof::cli
