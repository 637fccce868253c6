// cli/model/profile/alike_frames.h: which frames of a profile are one, and in which order frames stand.
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

// Makes names printable. Returns which frame stands for each: the first of those that are alike, which then has the
// smallest module of theirs, and is inlined, or inferred, if one of them is.
std::vector<uint32_t> merge_alike_frames(Profile* profile);

// Which frame stands for each, of a profile as it is.
std::vector<uint32_t> find_alike_frames(const Profile& profile);

using FrameOrder = std::tuple<std::string_view, std::string_view, uint32_t, std::string_view, uint64_t>;
FrameOrder frame_order(const Profile& profile, uint32_t frame);

// A pseudo-frame of a file: a stack of it is none.
bool stands_for_no_stack(const Frame& frame);

}  // namespace heapprof::cli
