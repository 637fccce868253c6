// cli/write/html/page_diff.h: what changed between the two profiles of a page: places and stacks as cli/model/compare
// matched them, so that the page says what `heapprof diff` says.
#pragma once

#include "cli/write/diff/diff_view.h"
#include "cli/write/encode/json_stream.h"
#include "cli/write/html/page_blocks.h"

namespace heapprof::cli {

// A member "diff" of the summary: sentences, remarks, and of each device its name and its place in each profile (from
// 1; 0: it is not there).
void write_diff_summary(const TwoProfiles& two, const DiffView& view, JsonWriter* json);

// Of one device: places_count stacks_count; of places: function, location (texts); then base's and current's peak
// bytes, total bytes, live bytes at the end, allocations, temporary blocks; of stacks: place, 1 if the node is
// current's, node, node of its place, and the same numbers.
PageColumns page_diff(const TwoProfiles& two, const DiffView& view, const DeviceChange& device, PageTexts* texts);

}  // namespace heapprof::cli
