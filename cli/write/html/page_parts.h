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

// The most single runs on a page. More could not be told apart on a screen, and would be most of the page's size. The
// longest are kept.
inline constexpr size_t kMostPageRuns = 50'000;

// scopes_count runs_count left_out_count marks_count; for each scope: distance to the parent (0: none), category, name
// (texts), 1 if it is an operator of PyTorch's, begun, time, own time, longest, growth in all runs that the profile
// has; for each run: scope, begin (deltas), length, thread, growth, flags; for each mark: category, name (texts), time
// (deltas), thread.
PageColumns page_scopes(const Scopes& scopes, PageTexts* texts);

// ---- page_tables.cc ----

// Stacks, sites and curves of a profile as columns (page_blocks.h).
// cli/page/src/data/profile.ts reads them in the same order.

// frames_count nodes_count; for each frame: function, location, module (texts), flags (1: inlined, 2: not of the user's
// own), function's number; for each node but the root: distance to the parent, frame, 1 if shown without "all frames".
PageColumns page_tree(const Profile& profile, const PlaceTree& tree, const FrameNames& names, PageTexts* texts);

// places_count sites_count; for each place: function, location (texts), flags (1: libstdc++'s reserve); for each site:
// node, node of the place, place, peak bytes and blocks, total bytes and blocks, live bytes and blocks at the end, 1 if
// these are suppressed, temporary blocks, lifetime.
// Then bounds_count, the bounds (deltas); for each site: the number of its parts, and for each part begin, end, bytes,
// blocks.
PageColumns page_sites(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                       PageTexts* texts);

// The most time buckets of a curve; no screen has as many columns. If there are more (never in heapprof's own
// profiles), neighbours are merged: the smallest value of all, and the largest.
inline constexpr size_t kMostPageBuckets = 8'192;
Timeline fitted_timeline(const Timeline& timeline);

// buckets_count; the smallest number of bytes of each bucket (deltas), then the largest (deltas).
PageColumns page_timeline(const Timeline& timeline);

// ---- page_diff.cc ----

// The changes between the two profiles of a page: places and stacks as cli/model/compare matched them, so that the page
// agrees with `heapprof diff`.

// Writes the summary's member "diff": sentences, remarks, and for each device its name and its position in each profile
// (from 1; 0: the profile lacks it).
void write_diff_summary(const TwoProfiles& two, const DiffView& view, JsonWriter* json);

// The changes of one device. places_count stacks_count; for each place: function, location (texts); then base's and
// current's peak bytes, total bytes, live bytes at the end, allocations, temporary blocks; for each stack: place, 1 if
// the node is current's, node, node of its place, and the same numbers.
PageColumns page_diff(const TwoProfiles& two, const DiffView& view, const DeviceChange& device, PageTexts* texts);

}  // namespace heapprof::cli
