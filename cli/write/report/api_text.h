// cli/write/report/api_text.h: what the calls of the GPU's API cost the host, by kind and place, on all devices.
//
//   GPU CALLS   1.20 s of the host's time in 41,204 calls; 812,004 kernels launched
//   812 ms  66.2 %  4,118 × allocate  1.20 GiB  upload  src/gpu.cu:140  ← main
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"
#include "cli/write/text/place_text.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

// Empty if there were none.
std::string api_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names, size_t columns);

}  // namespace heapprof::cli
