// cli/model/analysis/unnamed.h: how much of a profile lies in functions without a name, by module.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <vector>

namespace heapprof::cli {

struct UnnamedMemory {
  std::vector<uint64_t> peak_bytes;  // of the host, by module: of sites whose place has no function name
  uint64_t sum_bytes = 0;
};

// libstdc++'s reserve is not counted, because it is shown by its own name. tree: the profile's tree, if the caller has
// it.
UnnamedMemory find_unnamed(const Profile& profile, const PlaceTree* tree = nullptr);

}  // namespace heapprof::cli
