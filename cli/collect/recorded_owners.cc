// cli/collect/recorded_owners.cc: the search knows sites, the profile stacks. Sites count what was live at the very
// end, owners what was live when the process asked: nearly always the same, as nothing leads to what is lost.
#include "cli/base/saturating.h"
#include "cli/collect/recorded_parts.h"

namespace heapprof::cli {

void add_owners(const std::vector<LostOwner>& owners, const CallTree& tree, RecordedDevice* host) {
  LiveAmount owned;
  for (const LostOwner& owner : owners) {
    LostOwners& recorded = host->lost_owners.emplace_back();
    recorded.is_cycle = owner.is_ring;
    recorded.owners = owner.owners;
    recorded.bytes = owner.bytes;
    recorded.blocks = owner.blocks;
    owned.bytes = add_saturating(owned.bytes, owner.bytes);
    owned.blocks = add_saturating(owned.blocks, owner.blocks);
    for (const LostPart& part : owner.parts)
      recorded.parts.push_back({tree.sites()[part.site].stack, part.bytes, part.blocks});
  }
  LiveAmount lost;
  for (const RecordedSite& site : host->sites) {
    const SiteNumbers& n = site.numbers;
    lost.bytes = add_saturating(lost.bytes, add_saturating(n.lost_bytes, n.indirectly_lost_bytes));
    lost.blocks = add_saturating(lost.blocks, add_saturating(n.lost_blocks, n.indirectly_lost_blocks));
  }
  if (owned.bytes > lost.bytes || owned.blocks > lost.blocks) host->lost_owners.clear();
}

}  // namespace heapprof::cli
