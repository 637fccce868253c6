// cli/write/report/names_text.h: what the program named of a device's memory, and what it left out, in words.
#pragma once

#include "cli/model/profile/profile.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// In pieces that may go on a line of their own; none where the program named nothing.
std::vector<std::string> name_cells(const Profile& profile, const Device& device, bool exact_bytes);

// What the program allocated in pauses, and is in no other number; of the host alone, none where there was nothing.
std::vector<std::string> left_out_cells(const Profile& profile, const Device& device, bool exact_bytes);

}  // namespace heapprof::cli
