// cli/write/html/page_tables.h: stacks, sites and curves of a profile as columns (page_blocks.h).
// cli/page/src/data/profile.ts reads them in the same order.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"
#include "cli/write/html/page_blocks.h"
#include "cli/write/text/place_text.h"

namespace heapprof::cli {

// frames_count nodes_count; of frames: function, location, module (texts), flags (1: inlined, 2: not of the user's
// own), function's number; of nodes but the root: distance to the parent, frame, 1 if shown without "all frames".
PageColumns page_tree(const Profile& profile, const PlaceTree& tree, const FrameNames& names, PageTexts* texts);

// places_count sites_count; of places: function, location (texts), flags (1: libstdc++'s reserve); of sites: node, node
// of the place, place, peak bytes and blocks, total bytes and blocks, live bytes and blocks at the end, of these
// suppressed (1), temporary blocks, lifetime.
// bounds_count, the bounds (deltas); then of sites: how many parts, and of these begin, end, bytes, blocks.
PageColumns page_sites(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                       PageTexts* texts);

// So many stretches of a curve at most: no screen has as many columns. Where there are more (no profile of heapprof's
// own has), neighbours are one, with the smallest and the largest of both.
inline constexpr size_t kMostPageBuckets = 8'192;
Timeline fitted_timeline(const Timeline& timeline);

// buckets_count; the smallest numbers of bytes, the largest (deltas each).
PageColumns page_timeline(const Timeline& timeline);

}  // namespace heapprof::cli
