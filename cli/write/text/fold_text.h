// cli/write/text/fold_text.h: names the functions that were attributed to their callers (cli/model/analysis/folding.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

// "folded: zmalloc, zcalloc, 3 more (--all-frames)": as many names as fit; if none fits, "7 folded". Empty without
// names.
std::string folded_text(const std::vector<std::string>& names, size_t columns);

}  // namespace heapprof::cli
