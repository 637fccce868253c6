// cli/write/html/page_parts.h: the parts of the page, each written by a separate file.
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"
#include "cli/model/profile/scopes.h"
#include "cli/write/diff/diff_view.h"
#include "cli/write/encode/json_stream.h"
#include "cli/write/html/page.h"
#include "cli/write/html/page_blocks.h"
#include "cli/write/text/place_text.h"

#include <span>

namespace heapprof::cli {

// ---- page_summary.cc ----

// The data of the page's first screen, as JSON: the run, devices, findings, threads, processes.
// cli/page/src/data/summary.ts has its types.

// two: nullptr, unless the page shows a diff.
void write_page_summary(std::span<const PageSide> sides, const TwoProfiles* two, const DiffView& view, ByteSink* sink);

// ---- page_scopes.cc ----

// The program's scopes, their single runs and its marks as columns (page_blocks.h).

// Limit of single runs on a page: more could not be distinguished, and would be most of its size. The longest are kept.
inline constexpr size_t kMostPageRuns = 50'000;

// scopes_count runs_count left_out_count marks_count; of scopes: distance to the parent (0: none), category, name
// (texts), 1 if it is an operator of PyTorch's, begun, time, own time, longest, growth in all runs that the profile
// has; of runs: scope, begin (deltas), length, thread, growth, flags; of marks: category, name (texts), time (deltas),
// thread.
PageColumns page_scopes(const Scopes& scopes, PageTexts* texts);

// ---- page_tables.cc ----

// Stacks, sites and curves of a profile as columns (page_blocks.h).
// cli/page/src/data/profile.ts reads them in the same order.

// frames_count nodes_count; of frames: function, location, module (texts), flags (1: inlined, 2: not of the user's
// own), function's number; of nodes but the root: distance to the parent, frame, 1 if shown without "all frames".
PageColumns page_tree(const Profile& profile, const PlaceTree& tree, const FrameNames& names, PageTexts* texts);

// places_count sites_count; of places: function, location (texts), flags (1: libstdc++'s reserve); of sites: node, node
// of the place, place, peak bytes and blocks, total bytes and blocks, live bytes and blocks at the end, of these
// suppressed (1), temporary blocks, lifetime.
// bounds_count, the bounds (deltas); then of sites: how many parts, and of these begin, end, bytes, blocks.
PageColumns page_sites(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                       PageTexts* texts);

// Limit of a curve's time buckets: no screen has as many columns. If there are more (never in heapprof's own profiles),
// neighbours are merged, with the smallest and the largest of both.
inline constexpr size_t kMostPageBuckets = 8'192;
Timeline fitted_timeline(const Timeline& timeline);

// buckets_count; the smallest numbers of bytes, the largest (deltas each).
PageColumns page_timeline(const Timeline& timeline);

// ---- page_diff.cc ----

// The changes between the two profiles of a page: places and stacks as cli/model/compare matched them, so that the page
// agrees with `heapprof diff`.

// A member "diff" of the summary: sentences, remarks, and of each device its name and its place in each profile (from
// 1; 0: it is not there).
void write_diff_summary(const TwoProfiles& two, const DiffView& view, JsonWriter* json);

// Of one device: places_count stacks_count; of places: function, location (texts); then base's and current's peak
// bytes, total bytes, live bytes at the end, allocations, temporary blocks; of stacks: place, 1 if the node is
// current's, node, node of its place, and the same numbers.
PageColumns page_diff(const TwoProfiles& two, const DiffView& view, const DeviceChange& device, PageTexts* texts);

}  // namespace heapprof::cli
