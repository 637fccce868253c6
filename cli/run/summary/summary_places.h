// cli/run/summary/summary_places.h: the rows of the summary: the places that have the memory at the peak, that make
// temporary blocks, and that still have some at the end.
//
// Guarantees
//  - As many rows as fit the screen, three of each kind at most; but always three at the largest peak and one of each
//    other kind.
//  - After the first row of a kind, no row has less than a hundredth.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace heapprof::cli {

struct PlacesView {
  size_t rows = 0;  // free lines, titles included
  size_t columns = 80;
  bool colored = false;
};

// The rows; the number of free lines comes later. Keeps references to the profile and the tree.
class PlaceSections {
 public:
  PlaceSections(const Profile& profile, const PlaceTree& tree, std::vector<const Device*> devices);
  PlaceSections(PlaceSections&&) noexcept;
  ~PlaceSections();

  std::string text(const PlacesView& view) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace heapprof::cli
