// cli/model/analysis/named_place.h: whether all blocks of a place had one of the program's own names.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstdint>

namespace heapprof::cli {

// The name of all blocks that the frame's place ever allocated; nullptr if there is no such name.
const NamedMemory* find_name_of_place(const Profile& profile, const PlaceTree& tree, const Device& device,
                                      uint32_t frame);

}  // namespace heapprof::cli
