// cli/model/top/top_table.h: which rows are shown, and in which order.
#pragma once

#include "cli/model/top/top_board.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

enum class TopSort { kLive, kGrowth, kAllocations };

inline constexpr std::string_view kTopUnnamed = "[names are being looked up]";

// The place that a row shows.
TopPlace place_of_row(const TopBoard& board, const TopRow& row);

// The rows of a device whose function or location contains the text, ignoring case; the largest first, equal ones by
// name. An empty text: all.
std::vector<TopRow> choose_top_rows(const TopBoard& board, uint32_t device_number, TopSort sort,
                                    std::string_view filter);

// The count per second.
uint64_t rate_per_second(uint64_t count, uint64_t interval_ns);

}  // namespace heapprof::cli
