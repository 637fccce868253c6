// cli/model/analysis/lost_owners.h: what owns the memory that was lost (run --leak-check), by place: stacks that a user
// would call one place are one, and so are cycles of the same places.
//
// Guarantees
//  - Each of the device's LostOwners is in one story, but for those whose leaks are all suppressed: they are in none.
//  - The order is by bytes; what is known of no owner comes last.
// Cost:     linear in sites; next to none where nothing was lost.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <vector>

namespace heapprof::cli {

struct LostStory {
  // Of the owners' places, that with most bytes first; kNoModule: a stack without a frame. Empty: these are the rest.
  std::vector<uint32_t> frames;
  bool is_cycle = false;
  uint64_t owners = 0;  // blocks, or cycles
  uint64_t bytes = 0;   // of them and of all that only they lead to
  uint64_t blocks = 0;
  // A stack of theirs goes through a pointer that counts its owners (std::shared_ptr, Rc, Arc), or a container of some.
  bool is_counted = false;
  uint64_t all_blocks = 0;  // that the owners' stacks made; one that was summed with others counts what it lost
  uint64_t over_ns = 0;     // from the oldest block that they left to the youngest
  CallerChain callers;      // of the first place
};

std::vector<LostStory> find_lost_stories(const Profile& profile, const PlaceTree& tree, const Device& device);

}  // namespace heapprof::cli
