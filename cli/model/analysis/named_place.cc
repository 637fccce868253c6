// cli/model/analysis/named_place.cc: see named_place.h.
#include "cli/model/analysis/named_place.h"

#include "cli/base/saturating.h"

namespace heapprof::cli {

const NamedMemory* find_name_of_place(const Profile& profile, const PlaceTree& tree, const Device& device,
                                      uint32_t frame) {
  if (device.names.empty()) return nullptr;
  const auto is_of_place = [&](uint32_t node) {
    const uint32_t place = node == 0 ? 0 : tree.place_node[node];
    return place != 0 && tree.labels[profile.nodes[place].frame] == tree.labels[frame];
  };
  uint64_t all_blocks = 0;
  for (const Site& site : device.sites) {
    if (is_of_place(site.node)) all_blocks = add_saturating(all_blocks, site.numbers.total_blocks);
  }
  const NamedMemory* only = nullptr;
  for (const NamedMemory& named : device.names) {
    uint64_t named_blocks = 0;
    for (const NamedSite& site : named.sites) {
      if (is_of_place(site.node)) named_blocks = add_saturating(named_blocks, site.total_blocks);
    }
    if (named_blocks == 0) continue;
    if (only != nullptr || named_blocks != all_blocks) return nullptr;
    only = &named;
  }
  return only;
}

}  // namespace heapprof::cli
