// cli/merge/merge_inputs.h: which files are merged.
#pragma once

#include "cli/base/result.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// The named files, and the profiles in the named folders; never the output, and no file twice. `is_share`: only a
// node's share: files of other nodes may be missing.
Result<std::vector<std::string>> find_inputs(const std::vector<std::string>& named, const std::string& output,
                                             bool is_share);

}  // namespace heapprof::cli
