// cli/write/report/refusal_text.h: what a device refused, and who held its memory at that moment.
//
//   cuda:0 ran out of memory at 12.301 s: 2.00 GiB asked for, 1.20 GiB free; the program held 21.3 GiB
//     asked for  2.00 GiB            upload           src/gpu.cu:140  ← main
//     held by    15.1 GiB  70.9 %    load_weights     src/model.cu:20 ← main
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"
#include "cli/write/text/place_text.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

struct RefusalView {
  size_t most_refusals;    // places that asked, the latest first
  size_t most_live_sites;  // of each
  size_t columns;
  bool exact_bytes = false;
};

// Empty if nothing was refused.
std::string refusal_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                         const RefusalView& view);

}  // namespace heapprof::cli
