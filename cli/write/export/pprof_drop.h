// cli/write/export/pprof_drop.h: which functions a viewer of pprof files is to leave out, so that what it lists first
// are functions of the program and not `operator new` or an interpreter's.
//
// Guarantees
//  - A stack is cut right below its innermost frame that is the user's own, as in reports; nothing of the program is
//    left out.
//  - A function that is left out by its name is never above such a frame. One that is above it on other stacks has
//    another name where it is cut: "[system] std::for_each".
// Cost:     linear in frames and nodes; and for each site the frames that are cut.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

// A device of a profile, as one part of a file.
struct PprofDevice {
  const Profile* profile = nullptr;
  const Device* device = nullptr;
};

inline constexpr std::string_view kCutMark = "[system] ";  // before the name

struct PprofCuts {
  // The drop_frames of profile.proto: a regular expression that the names of those functions match as a whole, as pprof
  // compares them. Empty: no frames.
  std::string expression;
  std::vector<std::vector<uint32_t>> marked;  // by part and site: the node whose frame has the mark; 0: none has
};

PprofCuts find_pprof_cuts(std::span<const PprofDevice> parts);

// The name with which pprof compares: without what follows the first parenthesis that is not part of a name.
std::string compared_name(std::string_view function);

}  // namespace heapprof::cli
