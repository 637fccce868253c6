// cli/model/profile/stay_invariants.h: what must hold for a device's bucket boundaries and its sites' lifetimes
// (stays.h).
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// Returns one sentence for each violation.
std::vector<std::string> find_stay_violations(const Device& device, uint64_t duration_ns);

}  // namespace heapprof::cli
