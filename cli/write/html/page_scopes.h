// cli/write/html/page_scopes.h: the program's scopes, their single runs and its marks as columns (page_blocks.h).
#pragma once

#include "cli/model/profile/scopes.h"
#include "cli/write/html/page_blocks.h"

namespace heapprof::cli {

// Single runs of a page: more of them nobody can tell apart, and they would be most of its size. The longest are kept.
inline constexpr size_t kMostPageRuns = 50'000;

// scopes_count runs_count left_out_count marks_count; of scopes: distance to the parent (0: none), category, name
// (texts), 1 if it is an operator of PyTorch's, begun, time, own time, longest, growth in all runs that the profile
// has; of runs: scope, begin (deltas), length, thread, growth, flags; of marks: category, name (texts), time (deltas),
// thread.
PageColumns page_scopes(const Scopes& scopes, PageTexts* texts);

}  // namespace heapprof::cli
