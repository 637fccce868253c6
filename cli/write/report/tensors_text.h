// cli/write/report/tensors_text.h: what the tensors of a snapshot are to the program, and the ten largest.
#pragma once

#include "cli/model/profile/profile.h"
#include "cli/write/text/place_text.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace heapprof::cli {

struct TensorsLook {
  size_t columns = 80;
  bool exact_bytes = false;
  std::string device;  // empty: all
};

// A section for each device; empty: the snapshot has none there.
std::string tensors_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names, uint32_t snapshot,
                         const TensorsLook& look);
// Those of the last snapshot that has any.
std::string last_tensors_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names,
                              const TensorsLook& look);

}  // namespace heapprof::cli
