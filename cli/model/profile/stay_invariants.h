// cli/model/profile/stay_invariants.h: what must hold of a device's bounds and its sites' stays (stays.h).
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// One sentence for each that does not.
std::vector<std::string> find_stay_violations(const Device& device, uint64_t duration_ns);

}  // namespace heapprof::cli
