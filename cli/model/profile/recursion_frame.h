// cli/model/profile/recursion_frame.h: the pseudo-frame that precedes the frames of a recursion, which are listed only
// once (cli/collect/rings/stack_folder.h).
//
//   [recursion from Parser::value, up to 20000 frames]
//
// The name is that of the outermost listed frame. The number says how many frames the listed ones replace in the
// deepest such stack. Two such pseudo-frames that differ only in the number read alike.
#pragma once

#include "cli/model/profile/recording.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace heapprof::cli {

// The pseudo-frame as Location::svma, without a module. No process has code at these addresses, and Python frames do
// not use them (python_code.h).
constexpr uint64_t pack_recursion(uint32_t first_location, uint32_t frames) {
  return uint64_t{1} << 62 | uint64_t{first_location & 0x3fffffff} << 32 | frames;
}
constexpr bool is_recursion(const Location& location) {
  return location.module == kNoModule && location.svma >> 62 == 1;
}
constexpr uint32_t first_of_recursion(uint64_t svma) { return static_cast<uint32_t>(svma >> 32) & 0x3fffffff; }
constexpr uint32_t frames_of_recursion(uint64_t svma) { return static_cast<uint32_t>(svma); }

std::string recursion_text(std::string_view function, uint32_t frames);

// The function's name in such a text. Any other text is returned unchanged.
std::string_view function_of_recursion(std::string_view function);
// Removes the number from such a text, or from a text that begins with one.
std::string without_recursion_frames(std::string text);
// The number in such a text; 0 for any other text.
uint64_t recursion_frames(std::string_view text);

}  // namespace heapprof::cli
