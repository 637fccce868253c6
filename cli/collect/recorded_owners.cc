// cli/collect/recorded_owners.cc: converts the sites of the search to the stacks of the profile. Sites count what was
// live at the very end, owners what was live when the process asked. The two are nearly always equal, because the
// program cannot reach lost blocks to free them.
#include "cli/base/saturating.h"
#include "cli/collect/recorded_parts.h"

#include <new>

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

namespace {

HolderKind kind_of(RootKind kind) {
  switch (kind) {
    case RootKind::kVariable: return HolderKind::kVariable;
    case RootKind::kThreadLocal: return HolderKind::kThreadLocal;
    case RootKind::kMapped: return HolderKind::kMapped;
    case RootKind::kStack: return HolderKind::kStack;
    case RootKind::kOther: break;
  }
  return HolderKind::kOther;
}

void add_held(const std::vector<HeldBlocks>& holders, const CallTree& tree, RecordedDevice* host) {
  LiveAmount held;
  for (const HeldBlocks& one : holders) {
    Holder& recorded = host->held_by.emplace_back(
        Holder{kind_of(one.kind), one.is_shared, one.names, one.module, one.bytes, one.blocks, {}});
    held.bytes = add_saturating(held.bytes, one.bytes);
    held.blocks = add_saturating(held.blocks, one.blocks);
    for (const LostPart& part : one.parts)
      recorded.parts.push_back({tree.sites()[part.site].stack, part.bytes, part.blocks});
  }
  LiveAmount reachable;
  for (const RecordedSite& site : host->sites) {
    reachable.bytes = add_saturating(reachable.bytes, site.numbers.reachable_bytes);
    reachable.blocks = add_saturating(reachable.blocks, site.numbers.reachable_blocks);
  }
  if (held.bytes > reachable.bytes || held.blocks > reachable.blocks) host->held_by.clear();
}

}  // namespace

void add_holders(const LeakWatch& leaks, const CallTree& tree, RecordedDevice* host) {
  try {
    add_held(leaks.holders(), tree, host);
  } catch (const std::bad_alloc&) {
    host->held_by.clear();
  }
}

}  // namespace heapprof::cli
