// cli/model/profile/alike_frames.h: which frames of a profile are the same, and the order of frames.
//
// Guarantees
//  - Two frames are alike if, and only if, their texts (frame_text.h) are equal.
//  - The order is by function, file, line, module's path and address; frames that are not alike differ in it.
// Cost:     0.2 µs a frame.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace heapprof::cli {

// Makes names printable. Returns the frame that represents each: the first of those that are alike. That one gets the
// smallest of their modules, and is inlined, or inferred, if one of them is.
std::vector<uint32_t> merge_alike_frames(Profile* profile);

// The frame that represents each, in an unchanged profile.
std::vector<uint32_t> find_alike_frames(const Profile& profile);

using FrameOrder = std::tuple<std::string_view, std::string_view, uint32_t, std::string_view, uint64_t>;
FrameOrder frame_order(const Profile& profile, uint32_t frame);

// A pseudo-frame of a file: a stack that consists of it counts as no stack.
bool stands_for_no_stack(const Frame& frame);

}  // namespace heapprof::cli
