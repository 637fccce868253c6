// cli/top/top_words.h: the words of the live view that its screen, its report and its lines share.
#pragma once

#include "cli/model/top/top_board.h"
#include "cli/model/top/top_findings.h"
#include "cli/top/paint_lines.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace heapprof::cli {

std::string growth_text(int64_t growth_bytes);
LinePiece growth_piece(int64_t growth_bytes, size_t columns);
// Of a device, a second.
int64_t growth_per_second(const TopBoard& board, const TopNumbers& numbers);
std::string rate_text(const TopBoard& board, const TopNumbers& numbers);  // "1,204 allocs/s"
// "+10 s", or as far as it has been watched.
std::string window_text(const TopBoard& board);
// Live bytes over the last minute, newest at the right; heights are of the largest of them.
std::string curve_text(const TopDeviceState& device, uint64_t now_ns, size_t columns, bool utf8);
std::string finding_text(const TopFinding& finding);
std::string scope_text(const TopBoard& board, const TopScopeState& scope);

}  // namespace heapprof::cli
