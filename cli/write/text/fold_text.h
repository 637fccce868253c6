// cli/write/text/fold_text.h: which functions handed their rows to their callers (cli/model/analysis/folding.h), in
// words.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

// "folded: zmalloc, zcalloc, 3 more (--all-frames)": as many names as fit; without any at least "7 folded". Empty
// without names.
std::string folded_text(const std::vector<std::string>& names, size_t columns);

}  // namespace heapprof::cli
