// cli/write/html/page_summary.h: what the page's first screen needs, as JSON: the run, devices, findings, threads,
// processes. cli/page/src/data/summary.ts has its types.
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/write/html/page.h"

#include <span>

namespace heapprof::cli {

// two: nullptr, unless the page is of what changed.
void write_page_summary(std::span<const PageSide> sides, const TwoProfiles* two, const DiffView& view, ByteSink* sink);

}  // namespace heapprof::cli
