// cli/model/profile/name_frames.h: names for the frames of a profile that was written without them.
//
// A profile holds of each frame its module, with the build id, and its address in that file: all that a symbolizer asks
// for. So names can be found later, where the debug files are.
//
// Guarantees
//  - Nothing but names changes: the profile is what assemble.h makes of the same recording with these names, but for
//    rows of small sites (Site::grouped_stacks), which stay as they were summed.
//  - A frame that has a source file keeps what it has. One with a function alone, or with nothing, gets what is found;
//    a function is never lost.
//  - With the same names a second call changes nothing.
// Trust:    the profile is checked when it is read; a symbol table of another length names nothing.
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

// Frames that debug information would say more about, as a symbolizer wants them.
struct NamelessFrames {
  std::vector<Module> modules;       // as Profile::modules
  std::vector<Location> locations;   // distinct
  std::vector<uint32_t> frames;      // of each location: index into Profile::frames
  std::vector<char> have_functions;  // of each location: only its source line is missing
};

NamelessFrames find_nameless_frames(const Profile& profile);

// Of one module: frames by what they lacked before and have now.
struct NamedFrames {
  uint64_t functions_missing = 0;  // frames without a function, before
  uint64_t functions_found = 0;
  uint64_t lines_missing = 0;  // frames with a function and without a source line, before
  uint64_t lines_found = 0;
};

// The pairs of nameless frames, as find_neighbours() of a recording.
std::vector<CallPair> find_neighbours(const NamelessFrames& nameless, const Profile& profile);

// Gives the frames the names that were found, and puts the inferred ones between them; `table` is of
// nameless.locations. Returns what came of it, by module.
std::vector<NamedFrames> add_names(const NamelessFrames& nameless, const SymbolTable& table, Profile* profile);

}  // namespace heapprof::cli
