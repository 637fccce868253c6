// cli/merge/merge_inputs.h: which files are merged.
#pragma once

#include "cli/base/result.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// The named files, and the profiles in the named folders, where the output is skipped. If a file is found twice, or the
// output is named as a file, that is a problem. `is_share`: this process merges only its node's share, so named files
// of other nodes may be missing.
Result<std::vector<std::string>> find_inputs(const std::vector<std::string>& named, const std::string& output,
                                             bool is_share);

}  // namespace heapprof::cli
