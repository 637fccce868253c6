// cli/top/paint_lines.h: what has to be sent to a terminal for it to show these lines: those that are other than
// before.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

// `shown`: what stands there; empty: nothing is known of it, so all is cleared first.
std::string paint_lines(const std::vector<std::string>& shown, const std::vector<std::string>& wanted);

// A piece of a line: what it says, and whether it is a growth or the opposite, which may have a colour.
struct LinePiece {
  enum class Sign { kNone, kGrowth, kShrink };
  std::string text;
  Sign sign = Sign::kNone;
};

// One line of at most so many columns; ASCII where nothing else can be shown.
std::string line_of_pieces(const std::vector<LinePiece>& pieces, size_t columns, bool utf8, bool colored);

// As much of the text as has room.
std::string cut_to_columns(std::string_view text, size_t columns);

}  // namespace heapprof::cli
