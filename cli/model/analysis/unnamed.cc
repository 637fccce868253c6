// cli/model/analysis/unnamed.cc: see unnamed.h.
#include "cli/model/analysis/unnamed.h"

#include "cli/base/saturating.h"
#include "cli/model/analysis/exception_reserve.h"

namespace heapprof::cli {

namespace {

UnnamedMemory unnamed_of(const Profile& profile, const PlaceTree& tree) {
  UnnamedMemory unnamed;
  unnamed.peak_bytes.resize(profile.modules.size());
  if (profile.devices.empty() || profile.frames.empty()) return unnamed;
  for (const Site& site : profile.devices[0].sites) {
    const Frame* frame = find_unnamed_frame(profile, tree, site.node);
    if (frame == nullptr || frame->module >= profile.modules.size() || find_reserve_frame(profile, site) != kNoModule)
      continue;
    uint64_t& bytes = unnamed.peak_bytes[frame->module];
    bytes = add_saturating(bytes, site.numbers.peak_bytes);
    unnamed.sum_bytes = add_saturating(unnamed.sum_bytes, site.numbers.peak_bytes);
  }
  return unnamed;
}

}  // namespace

UnnamedMemory find_unnamed(const Profile& profile, const PlaceTree* tree) {
  return unnamed_of(profile, tree != nullptr ? *tree : build_place_tree(profile));
}

}  // namespace heapprof::cli
