// cli/write/export/pprof_drop.h: which functions a viewer of pprof files should leave out, so that it lists functions
// of the program first and not `operator new` or an interpreter's.
//
// Guarantees
//  - The frames that a stack's innermost user frame calls are cut, as in reports; no function of the program is left
//    out.
//  - A function that is left out by its name does not occur in the kept part of any stack. If a function is cut on one
//    stack, but kept on another, its frame has a marked name where it is cut: "[system] std::for_each".
// Cost:     linear in frames and nodes, plus the cut frames of each site.
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
  // The drop_frames of profile.proto: a regular expression that matches the whole names of the functions to leave out,
  // as pprof compares them. Empty: no frames.
  std::string expression;
  std::vector<std::vector<uint32_t>> marked;  // by part and site: the node whose frame has the mark; 0: no mark
};

PprofCuts find_pprof_cuts(std::span<const PprofDevice> parts);

// The name that pprof compares: the text before the first parenthesis that is not part of a name, as in "operator()".
std::string compared_name(std::string_view function);

}  // namespace heapprof::cli
