// cli/model/profile/frame_text.h: a frame as one line of text, the form that DHAT's viewer and other importers know.
//
//   0x11A4: build_index (src/index.cc:212)      with line information
//   0x9F20: qsort_r (in /usr/lib/libc.so.6)     without line information
//   0x9F20: ??? (in /usr/lib/libc.so.6)         without a name
//   [no stack]                                  a pseudo-frame, which has no address
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace heapprof::cli {

inline constexpr std::string_view kNoStackText = "[no stack]";
inline constexpr std::string_view kSmallSitesText = "[small sites]";

// pre: function, file and the module's path hold no control characters (cli/model/profile/canonical.h).
std::string frame_text(const Profile& profile, const Frame& frame);
void append_frame_text(const Profile& profile, const Frame& frame, std::string* text);

struct ParsedFrame {
  uint64_t svma = 0;
  std::string_view function;  // empty: unknown
  std::string_view file;      // empty: unknown
  std::string_view module;    // empty: not in the text
  uint32_t line = 0;
};

// Accepts any text. If the text does not have this form, it is taken as a function's name. A column after the line
// (dhat-rs) is dropped if has_columns is set. The views point into `text`.
ParsedFrame parse_frame_text(std::string_view text, bool has_columns);

}  // namespace heapprof::cli
