// cli/model/analysis/places.h: sites summed by place: what a user would call "where": the first frame that is their
// own.
//
// A place is a function with file and line (or with its module where there are no lines). Sites that reach it by
// different callers, or that differ only in hidden frames below it, are one place.
//
// Wrappers around the allocator are not where: what cli/model/analysis/folding.h folds hands its sites to the next
// outer frame that is the user's own. It keeps those whose caller has no name, as a name says more than an address; and
// a frame without a name inside of a known wrapper belongs to the wrapper. Further out a folded function is a caller
// like others.
//
// Guarantees
//  - Each site is in exactly one place: the sums over places are the sums over sites, which are the device's totals.
//  - The order is deterministic for equal profiles.
// Not provided: the maximum of a place; maxima of sites do not add (what PlaceNumbers has is an upper bound).
// Cost:     linear in nodes and sites.
#pragma once

#include "cli/model/analysis/frame_kind.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// For each frame and node of a profile which place it belongs to. Made once per profile.
struct PlaceTree {
  std::vector<FrameKind> kinds;  // by frame
  std::vector<uint32_t> labels;  // by frame: equal for frames that read alike as a place; below labels_count
  uint32_t labels_count = 0;
  std::vector<CodeOwner> owners;     // by frame: find_code_owners()
  std::vector<uint32_t> functions;   // by frame: equal for frames of one function, whatever the line
  std::vector<uint32_t> user_node;   // by node: itself or the next outer node that is the user's own; 0: no such node
  std::vector<uint32_t> place_node;  // by node: where a site that ends here is placed
  // The frame of rows of small sites that stands for others: what is around it did not call what is within it. Only
  // where libraries have places; it stands for none of the user's own further in than the outermost (python/rows.h).
  uint32_t left_out = kNoFrame;
  static constexpr uint32_t kNoFrame = 0xffffffff;
  bool hides_libraries = false;  // some frames of libraries are no places because the program's own called them
};

PlaceTree build_place_tree(const Profile& profile);
// Once more, after Profile::folds has changed.
void place_nodes(const Profile& profile, PlaceTree* tree);

// The frame that a site of the node would be placed at, if it had a name; null where it has one. A wrapper that keeps
// its row because its caller has no name hides one that is missing.
const Frame* find_unnamed_frame(const Profile& profile, const PlaceTree& tree, uint32_t node);

// Sums of sites. Leaks that a rule of cli/model/analysis/suppressions.h explains are apart, and in none of the numbers
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
  bool is_reserve = false;      // libstdc++'s (exception_reserve.h): of no function of the user's, whoever loaded it
};

std::vector<Place> find_places(const Profile& profile, const PlaceTree& tree, const Device& device);

// The whole device as if it were one place, from the sites: what percents are of.
PlaceNumbers sum_of_sites(const Device& device);

// Indexes of the places that have some of the metric, the largest first.
std::vector<uint32_t> rank_places(const std::vector<Place>& places, Metric metric);
// The same without libstdc++'s reserve, which nobody asked for and nobody can do anything about.
std::vector<uint32_t> rank_own_places(const std::vector<Place>& places, Metric metric);
// What the reserve has of it.
uint64_t reserve_of(const std::vector<Place>& places, Metric metric);
// All of them, those without any of the metric last.
std::vector<uint32_t> rank_all_places(const std::vector<Place>& places, Metric metric);

// Who calls the place: the user's own functions outwards, as long as all of the metric goes through one of them; then
// those that share it, with what each has. A function that calls itself is one caller.
struct CallerShare {
  uint32_t frame = 0;
  uint64_t weight = 0;
};
struct CallerChain {
  std::vector<uint32_t> frames;
  std::vector<CallerShare> shares;  // the largest first; empty, or the chain ends because these share
  uint64_t unnamed_shares = 0;      // so many more share that have no frame in this profile
  uint64_t weight = 0;              // of the whole place: shares may sum to less, as a stack may end here
};
CallerChain find_callers(const Profile& profile, const PlaceTree& tree, const Device& device, const Place& place,
                         Metric metric);

// The same for some sites of one place, each with a weight of the caller's own.
struct WeightedSite {
  uint32_t site = 0;  // index into Device::sites
  uint64_t weight = 0;
};
CallerChain find_callers(const Profile& profile, const PlaceTree& tree, const Device& device,
                         const std::vector<WeightedSite>& sites);

// The same from nodes on: who calls their function.
struct WeightedNode {
  uint32_t node = 0;  // of the user's own; 0: none
  uint64_t weight = 0;
};
CallerChain find_callers(const Profile& profile, const PlaceTree& tree, std::vector<WeightedNode> nodes);
// The next outer node of the user's own in another function; 0: no such node, or it is not known. node: of the user's
// own
uint32_t next_outer_function(const Profile& profile, const PlaceTree& tree, uint32_t node);

// All frames of the place's largest site, innermost first, hidden ones too.
std::vector<uint32_t> largest_stack(const Profile& profile, const Device& device, const Place& place, Metric metric);

// Distinct frames of the standard library, the allocator and the runtime in the profile.
uint64_t count_hidden_frames(const PlaceTree& tree);

}  // namespace heapprof::cli
