// cli/merge/merge_inputs.h: which files are merged.
#pragma once

#include "cli/base/result.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// What is named, and the profiles in the folders that are; never the output, and no file twice. `is_share`: of a node's
// files, where those of other nodes are not there and need not be.
Result<std::vector<std::string>> find_inputs(const std::vector<std::string>& named, const std::string& output,
                                             bool is_share);

}  // namespace heapprof::cli
