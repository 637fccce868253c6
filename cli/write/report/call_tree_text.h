// cli/write/report/call_tree_text.h: the call tree as lines of text, from the outermost frames inwards, cut at 1 %.
//
// Guarantees
//  - The lines of one level, with the line for what was cut, and what the function above allocates itself, sum to that
//    function.
//  - At most kMostTreeLines lines; direct recursion is one line.
#pragma once

#include "cli/write/report/report_view.h"
#include "cli/write/text/place_text.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

inline constexpr size_t kMostTreeLines = 2000;

std::string render_call_tree(const Profile& profile, const PlaceTree& place_tree, const FrameNames& names,
                             const Device& device, const ReportView& view, Metric metric, size_t columns);

// A value of the metric as the view wants it: "1.92 GiB", "18.4 M".
std::string metric_text(const ReportView& view, Metric metric, uint64_t value);

}  // namespace heapprof::cli
