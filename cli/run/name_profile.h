// cli/run/name_profile.h: finds names for a profile that was written without them (heapprof symbolize).
//
// Guarantees
//  - Names come only from files that have the module's build id. A module without a build id gets no names.
//  - Nothing but names changes in the profile (cli/model/profile/name_frames.h).
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
  uint64_t peak_bytes = 0;  // memory at the host's peak that such functions allocated
  std::string why;          // "no debug file of build id 1234…"
  std::string debuginfod;   // debuginfod's answer: "debuginfod has none"; empty: not shown
};

struct Naming {
  NamedFrames sum;                   // over all modules
  std::vector<NamelessModule> left;  // the module with the most memory first
  bool is_cut_short = false;         // the folders have more files than are searched

  bool has_found() const { return sum.functions_found + sum.lines_found != 0; }
};

Naming name_profile(const NamingOptions& options, Profile* profile);

// Whether the profile is a checkpoint without names (checkpoints.h).
bool is_bare_checkpoint(const Profile& profile);

}  // namespace heapprof::cli
