// cli/collect/recorded_owners.h: what owns the memory that was lost, by stack.
#pragma once

#include "cli/collect/leaks/leak_marks.h"
#include "cli/collect/rings/call_tree.h"
#include "cli/model/profile/recording.h"

#include <vector>

namespace heapprof::cli {

// Fills host->lost_owners. pre: the sites of the host have what of them is lost
// Where blocks that were judged lost were freed after all, the owners may have more than the sites: then none is told.
void add_owners(const std::vector<LostOwner>& owners, const CallTree& tree, RecordedDevice* host);

}  // namespace heapprof::cli
