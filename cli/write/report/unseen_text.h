// cli/write/report/unseen_text.h: of devices: what was counted at the runtime alone, and estimates of what contexts and
// modules take.
//
//   counted at the CUDA runtime, which made no call of the driver that was seen:
//     cuda:0 2.00 MiB in 12 allocations
//   not in these numbers, estimated from what was free before and after:
//     cuda:0  context  ≤ 512 MiB  1 ×  make_context  src/gpu.cc:20 ← main
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"
#include "cli/write/text/place_text.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

// Empty if there is none.
std::string unseen_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names,
                        const std::vector<const Device*>& devices, bool exact_bytes, size_t columns);

}  // namespace heapprof::cli
