// cli/model/profile/assemble_steps.h: the steps that turn a recording into a profile, which is not canonical yet.
// assemble.h applies them to all sites, cli/model/analysis/assemble_grouped.h only to the sites that are kept.
//
// Trust:    indexes in the recording are checked; an impossible node or location is treated as no stack.
#pragma once

#include "cli/model/profile/profile.h"
#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

#include <cstdint>
#include <vector>

namespace heapprof::cli {

// Adds the modules and each location's frames, innermost first: those of location i are
// profile->frames[start[i] … start[i + 1]), where `start` is the result.
std::vector<uint32_t> add_frames(const Recording& recording, const SymbolTable& symbols, Profile* profile);

// For each module, whether it is the agent. The agent's functions between a program and the CUDA runtime are not part
// of the program.
std::vector<char> find_agent_modules(const std::vector<Module>& modules);

// Turns stack nodes into frame nodes: all of them, or only those for which *is_used is not 0. Then *is_used must not be
// 0 for their parents either. Returns the frame node of each stack node.
std::vector<uint32_t> add_nodes(const Recording& recording, const std::vector<uint32_t>& frame_start,
                                const std::vector<char>* is_used, Profile* profile);

// The site without its stack.
Site make_site(const RecordedDevice& recorded, const RecordedSite& from);
// The same for sites in ascending order. *site may have been used before; its allocated memory is reused.
struct SiteCursor {
  size_t step = 0;
  size_t stay = 0;
};
void make_site(const RecordedDevice& recorded, const RecordedSite& from, SiteCursor* cursor, Site* site);
// Replaces the device's sites with this one, which has no stack. If it has no blocks, the device gets no site.
void record_only(const Site& site, RecordedDevice* device);
Device make_device_without_sites(const RecordedDevice& recorded);

}  // namespace heapprof::cli
