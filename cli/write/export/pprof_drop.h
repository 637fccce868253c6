// cli/write/export/pprof_drop.h: which functions a viewer of pprof files is to leave out, so that what it lists first
// are functions of the program and not `operator new`.
//
// Guarantees
//  - A function that is left out has no function of the program's own below it in any stack of the profile: nothing of
//    the program is left out with it.
// Cost:     linear in frames and nodes.
#pragma once

#include "cli/model/profile/profile.h"

#include <span>
#include <string>
#include <string_view>

namespace heapprof::cli {

// A device of a profile, as one part of a file.
struct PprofDevice {
  const Profile* profile = nullptr;
  const Device* device = nullptr;
};

// The drop_frames of profile.proto: a regular expression that the names of those functions match as a whole, as pprof
// compares them. Empty: there are none.
std::string dropped_frames(const Profile& profile, const Device& device);
// Likewise for all parts of one file: a function that one part needs is dropped in none.
std::string dropped_frames(std::span<const PprofDevice> parts);

// The name with which pprof compares: without what follows the first parenthesis that is not part of a name.
std::string compared_name(std::string_view function);

}  // namespace heapprof::cli
