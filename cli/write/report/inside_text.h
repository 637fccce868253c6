// cli/write/report/inside_text.h: what of the host's and the mapped memory other allocators have: tensors of the CPU,
// and arenas of Python's small objects.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

// Lines about those of the devices that have any; empty: there is nothing to say.
std::string inside_text(const Profile& profile, const std::vector<const Device*>& devices, bool exact_bytes,
                        size_t columns);

}  // namespace heapprof::cli
