// cli/run/name_profile.h: finds names for a profile that was written without them: heapprof symbolize.
//
// Guarantees
//  - Names come from files of the module's own build id only; a module without one gets none.
//  - As cli/model/profile/name_frames.h: nothing but names changes.
#pragma once

#include "cli/model/profile/name_frames.h"
#include "cli/model/profile/profile.h"
#include "cli/symbolize/symbolizer.h"

#include <functional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct NamingOptions {
  std::vector<std::string> debug_folders;  // searched before the system's; one may be a debug file
  std::function<void(size_t done, size_t all)> progress;
};

// A module that still has functions without names.
struct NamelessModule {
  ProfileModule module;
  uint64_t functions = 0;
  uint64_t peak_bytes = 0;  // of the host's peak, in places of such functions
  std::string why;          // "no debug file of build id 1234…"
  std::string debuginfod;   // "debuginfod has none"; empty: its answer does not matter
};

struct Naming {
  NamedFrames sum;                   // over all modules
  std::vector<NamelessModule> left;  // the most memory first
  bool is_cut_short = false;         // the folders hold more files than are looked at

  bool has_found() const { return sum.functions_found + sum.lines_found != 0; }
};

Naming name_profile(const NamingOptions& options, Profile* profile);

// Whether it is a checkpoint that was written before its names were looked up (checkpoints.h).
bool is_bare_checkpoint(const Profile& profile);

}  // namespace heapprof::cli
