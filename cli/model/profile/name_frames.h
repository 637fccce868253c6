// cli/model/profile/name_frames.h: adds names to the frames of a profile that was written without them.
//
// A profile has each frame's module, with the build id, and the frame's address in that file. A symbolizer needs no
// more, so names can be found later, on the machine that has the debug files.
//
// Guarantees
//  - Only names change: the result is the profile that assemble.h makes of the same recording with these names. The
//    exception is rows of small sites (Site::grouped_stacks), which stay as they were summed.
//  - A frame that has a source file does not change. A frame with only a function, or without any name, gets the names
//    that are found; it never loses its function.
//  - With the same names a second call changes nothing.
// Trust:    the profile is checked when it is read; a symbol table of the wrong length is ignored.
// Cost:     as canonicalize.
#pragma once

#include "cli/model/profile/inferred_calls.h"
#include "cli/model/profile/profile.h"
#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// Frames about which debug information may say more, in the form that a symbolizer needs.
struct NamelessFrames {
  std::vector<Module> modules;       // as Profile::modules
  std::vector<Location> locations;   // of the frames; all different
  std::vector<uint32_t> frames;      // by location: index into Profile::frames
  std::vector<char> have_functions;  // by location: 1: only the source line is missing
};

NamelessFrames find_nameless_frames(const Profile& profile);

// For one module: frames by what they lacked before and have now.
struct NamedFrames {
  uint64_t functions_missing = 0;  // frames without a function, before
  uint64_t functions_found = 0;
  uint64_t lines_missing = 0;  // frames with a function and without a source line, before
  uint64_t lines_found = 0;
};

// The pairs of neighbours among nameless frames, as find_neighbours() returns them for a recording.
std::vector<CallPair> find_neighbours(const NamelessFrames& nameless, const Profile& profile);

// Gives the frames the names that were found, and inserts the inferred frames between them; `table` is for
// nameless.locations. Returns the result by module.
std::vector<NamedFrames> add_names(const NamelessFrames& nameless, const SymbolTable& table, Profile* profile);

}  // namespace heapprof::cli
