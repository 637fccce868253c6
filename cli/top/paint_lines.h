// cli/top/paint_lines.h: makes the bytes with which a terminal shows new lines instead of old ones. Only changed lines
// are sent.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

// `shown`: the lines on the screen; empty: unknown, so the screen is cleared first.
std::string paint_lines(const std::vector<std::string>& shown, const std::vector<std::string>& wanted);

// A piece of a line: its text, and whether the number in it is a growth or a decrease, which may be coloured.
struct LinePiece {
  enum class Sign { kNone, kGrowth, kShrink };
  std::string text;
  Sign sign = Sign::kNone;
};

// One line of at most `columns`; ASCII without utf8.
std::string line_of_pieces(const std::vector<LinePiece>& pieces, size_t columns, bool utf8, bool colored);

// As much of the text as fits.
std::string cut_to_columns(std::string_view text, size_t columns);

}  // namespace heapprof::cli
