// cli/model/profile/alike_frames.h: finds frames of a profile that read alike, and defines the order of frames.
//
// Guarantees
//  - Two frames are alike if, and only if, their texts (frame_text.h) are equal.
//  - The order is by function, file, line, module's path and address; frames that are not alike differ in this order.
// Cost:     0.2 µs a frame.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace heapprof::cli {

// Makes names printable. Returns, for each frame, the first frame that reads like it. That first frame gets the
// smallest module index of the group, and is inlined, or inferred, if one of the group is.
std::vector<uint32_t> merge_alike_frames(Profile* profile);

// Returns the same without changing the profile.
std::vector<uint32_t> find_alike_frames(const Profile& profile);

using FrameOrder = std::tuple<std::string_view, std::string_view, uint32_t, std::string_view, uint64_t>;
FrameOrder frame_order(const Profile& profile, uint32_t frame);

// Whether it is the pseudo-frame [no stack] of a file. A stack that consists of this frame counts as no stack.
bool stands_for_no_stack(const Frame& frame);

}  // namespace heapprof::cli
