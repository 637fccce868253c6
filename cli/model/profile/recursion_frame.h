// cli/model/profile/recursion_frame.h: the pseudo-frame before the frames of a recursion, which are listed once
// (cli/collect/rings/stack_folder.h).
//
//   [recursion from Parser::value, up to 20000 frames]
//
// The name is that of the outermost of these frames. The number says how many frames the listed ones replace in the
// deepest such stack. Two of these pseudo-frames that differ only in it read alike.
#pragma once

#include "cli/model/profile/recording.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace heapprof::cli {

// As a Location::svma without a module. No process has code there, and no frame of Python is there (python_code.h).
constexpr uint64_t pack_recursion(uint32_t first_location, uint32_t frames) {
  return uint64_t{1} << 62 | uint64_t{first_location & 0x3fffffff} << 32 | frames;
}
constexpr bool is_recursion(const Location& location) {
  return location.module == kNoModule && location.svma >> 62 == 1;
}
constexpr uint32_t first_of_recursion(uint64_t svma) { return static_cast<uint32_t>(svma >> 32) & 0x3fffffff; }
constexpr uint32_t frames_of_recursion(uint64_t svma) { return static_cast<uint32_t>(svma); }

std::string recursion_text(std::string_view function, uint32_t frames);

// The name in such a text; any other text is returned unchanged.
std::string_view function_of_recursion(std::string_view function);
// Such a text, or one that begins with it, without the number.
std::string without_recursion_frames(std::string text);
// The number; 0: not such a text.
uint64_t recursion_frames(std::string_view text);

}  // namespace heapprof::cli
