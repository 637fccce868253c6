// cli/top/top_words.h: makes texts that the live view's screen, report and lines share.
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
// A device's growth in bytes per second.
int64_t growth_per_second(const TopBoard& board, const TopNumbers& numbers);
std::string rate_text(const TopBoard& board, const TopNumbers& numbers);  // "1,204 allocs/s"
// The time over which growth is measured: "+10 s", or less if the process has been watched for less.
std::string window_text(const TopBoard& board);
// Live bytes over the last minute, newest at the right; heights are relative to the largest.
std::string curve_text(const TopDeviceState& device, uint64_t now_ns, size_t columns, bool utf8);
std::string finding_text(const TopFinding& finding);
std::string scope_text(const TopBoard& board, const TopScopeState& scope);

}  // namespace heapprof::cli
