// cli/model/compare/largest_places.h: what a merged profile keeps of where each of its inputs had its memory.
#pragma once

#include "cli/model/profile/profile.h"

#include <vector>

namespace heapprof::cli {

// For each device the places with the most at its peak (in a file without lifetimes: none), the first rows that
// `heapprof report` shows of the profile without rules of the user's.
std::vector<std::vector<PartRow>> find_largest_places(const Profile& profile);

}  // namespace heapprof::cli
