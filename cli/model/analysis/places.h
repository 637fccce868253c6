// cli/model/analysis/places.h: sites summed by place (allocation site grouped by source line): the innermost user
// frame.
//
// A place is a function with file and line (or with its module if there are no lines). Sites with different callers of
// it, or that differ only in hidden frames below it, are one place.
//
// Wrappers around the allocator are not places: the sites of a function that cli/model/analysis/folding.h folds go to
// the next outer user frame. A folded function keeps the sites whose caller has no name, because a name says more than
// an address. A frame without a name inside a known wrapper belongs to the wrapper. Further out on the stack, a folded
// function is an ordinary caller.
//
// Guarantees
//  - Each site is in exactly one place: the sums over places are the sums over sites, which are the device's totals.
//  - The order is deterministic for equal profiles.
// Not provided: the maximum of a place; maxima of sites do not add up (PlaceNumbers has an upper bound).
// Cost:     linear in nodes and sites.
#pragma once

#include "cli/model/analysis/frame_kind.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// The place of each frame and node of a profile. Made once per profile.
struct PlaceTree {
  std::vector<FrameKind> kinds;  // by frame
  std::vector<uint32_t> labels;  // by frame: equal for frames that read alike as a place; below labels_count
  uint32_t labels_count = 0;
  std::vector<CodeOwner> owners;     // by frame: from find_code_owners()
  std::vector<uint32_t> functions;   // by frame: equal for frames of one function, whatever the line
  std::vector<uint32_t> user_node;   // by node: the node or the next outer user node; 0: no such node
  std::vector<uint32_t> place_node;  // by node: the node of the place of sites at this node
  // The frame that replaces left-out frames in rows of small sites: the frame outside it did not call the frame inside
  // it. It is set only if library frames can be places. Except as the outermost frame, it never replaces user frames
  // (python/rows.h).
  uint32_t left_out = kNoFrame;
  static constexpr uint32_t kNoFrame = 0xffffffff;
  bool hides_libraries = false;  // some library frames are not places because the program's frames called them
};

PlaceTree build_place_tree(const Profile& profile);
// Assigns places again, after Profile::folds has changed.
void place_nodes(const Profile& profile, PlaceTree* tree);

// The frame that would be the place of the node's sites if it had a name; null if the place has a name. If a wrapper
// keeps the sites because its caller has no name, that caller is returned.
const Frame* find_unnamed_frame(const Profile& profile, const PlaceTree& tree, uint32_t node);

// Sums of sites. Leaks that cli/model/analysis/suppressions.h suppresses are counted separately, and not in the numbers
// of leaks.
struct PlaceNumbers : SizedNumbers {
  uint64_t suppressed_bytes = 0;
  uint64_t suppressed_blocks = 0;

  uint64_t metric(Metric metric) const { return this->*metric_field_of(metric).number; }
  void add(const Site& site);
  void add(const PlaceNumbers& other);
};

struct Place {
  uint32_t frame = 0;  // one of the frames that read like this; meaningless if has_frame is false
  bool has_frame = false;
  PlaceNumbers numbers;
  std::vector<uint32_t> sites;  // indexes into Device::sites
  bool is_reserve = false;      // libstdc++'s reserve (exception_reserve.h), even if a user function loaded libstdc++
};

std::vector<Place> find_places(const Profile& profile, const PlaceTree& tree, const Device& device);

// The sum of the device's sites, as if the device were one place. Percentages are relative to it.
PlaceNumbers sum_of_sites(const Device& device);

// Indexes of the places whose metric is not 0, the largest first.
std::vector<uint32_t> rank_places(const std::vector<Place>& places, Metric metric);
// The same without libstdc++'s reserve, which the user cannot avoid.
std::vector<uint32_t> rank_own_places(const std::vector<Place>& places, Metric metric);
// The reserve's part of the metric.
uint64_t reserve_of(const std::vector<Place>& places, Metric metric);
// Indexes of all places, the largest first; places whose metric is 0 come last.
std::vector<uint32_t> rank_all_places(const std::vector<Place>& places, Metric metric);

// The callers of the place, outwards: user functions as long as all of the metric comes through a single one, then the
// functions that share it, with the part of each. A function that calls itself is one caller.
struct CallerShare {
  uint32_t frame = 0;
  uint64_t weight = 0;
};
struct CallerChain {
  std::vector<uint32_t> frames;
  std::vector<CallerShare> shares;  // the largest first; not empty: the chain ends because these share the metric
  uint64_t unnamed_shares = 0;      // number of further callers that share it, without a frame in this profile
  uint64_t weight = 0;              // of the whole place: shares may sum to less, because a stack may end here
};
CallerChain find_callers(const Profile& profile, const PlaceTree& tree, const Device& device, const Place& place,
                         Metric metric);

// The same for some sites of one place, each with a weight that the caller chooses.
struct WeightedSite {
  uint32_t site = 0;  // index into Device::sites
  uint64_t weight = 0;
};
CallerChain find_callers(const Profile& profile, const PlaceTree& tree, const Device& device,
                         const std::vector<WeightedSite>& sites);

// The same, starting at nodes: finds the callers of the nodes' function.
struct WeightedNode {
  uint32_t node = 0;  // a user node; 0: none
  uint64_t weight = 0;
};
CallerChain find_callers(const Profile& profile, const PlaceTree& tree, std::vector<WeightedNode> nodes);
// The next outer user node in another function; 0 if there is none, or if it is unknown. pre: `node` is a user node
uint32_t next_outer_function(const Profile& profile, const PlaceTree& tree, uint32_t node);

// All frames of the place's largest site, innermost first, hidden ones too.
std::vector<uint32_t> largest_stack(const Profile& profile, const Device& device, const Place& place, Metric metric);

// The number of the profile's frames of the standard library, the allocator and the runtime.
uint64_t count_hidden_frames(const PlaceTree& tree);

}  // namespace heapprof::cli
