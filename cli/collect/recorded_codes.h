// cli/collect/recorded_codes.h: the code objects of Python that stand in the stacks, for the recording.
//
// Trust:  every byte of them is the target's, and may change at any moment: each is copied, then checked.
#pragma once

#include "cli/collect/arena.h"
#include "cli/model/profile/python_code.h"
#include "cli/model/profile/recording.h"

#include <vector>

namespace heapprof::cli {

PythonCodes recorded_codes(Arena* arena, const std::vector<Location>& locations);

}  // namespace heapprof::cli
