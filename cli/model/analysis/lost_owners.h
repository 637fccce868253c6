// cli/model/analysis/lost_owners.h: the owners of lost memory (run --leak-check), by place: stacks with the same place
// are merged, and so are cycles of the same places.
//
// Guarantees
//  - Each of the device's LostOwners is in exactly one story, unless all of its leaks are suppressed.
//  - The order is by bytes; memory without a known owner comes last.
// Cost:     linear in sites; almost nothing if nothing was lost.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <vector>

namespace heapprof::cli {

struct LostStory {
  // The owners' places, the one with most bytes first; kNoModule: a stack without a frame. Empty: the rest.
  std::vector<uint32_t> frames;
  bool is_cycle = false;
  uint64_t owners = 0;  // blocks, or cycles
  uint64_t bytes = 0;   // of them and of all that is reachable only through them
  uint64_t blocks = 0;
  // One of the owners' stacks contains a function of a reference-counting pointer (std::shared_ptr, Rc, Arc), or of a
  // container of such pointers.
  bool is_counted = false;
  uint64_t all_blocks = 0;  // allocated by the owners' stacks; of grouped stacks only lost blocks
  uint64_t over_ns = 0;     // from their oldest lost block to the youngest
  CallerChain callers;      // of the first place
};

std::vector<LostStory> find_lost_stories(const Profile& profile, const PlaceTree& tree, const Device& device);

}  // namespace heapprof::cli
