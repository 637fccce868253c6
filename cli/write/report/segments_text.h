// cli/write/report/segments_text.h: reserved against allocated: what PyTorch's allocator took from a CUDA device, what
// tensors have of it, and how large a tensor would still fit.
#pragma once

#include "cli/model/profile/profile.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// Pieces of lines, each line to be broken between them; empty: the device has no tensors.
std::vector<std::vector<std::string>> segments_lines(const Device& device, const Profile& profile, bool exact_bytes);

}  // namespace heapprof::cli
