// cli/run/summary/summary_places.h: the rows of the summary: who has the memory at the peak, who makes blocks for a
// moment, who still has some at the end.
//
// Guarantees
//  - As many rows as there is room for on the screen, three of each at most; and three at the largest peak and one of
//    each other kind, whatever room there is.
//  - After the first of its kind no row has less than a hundredth.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace heapprof::cli {

struct PlacesView {
  size_t rows = 0;  // lines that are free, titles included
  size_t columns = 80;
  bool colored = false;
};

// The rows, before it is known how many lines are free. Keeps references to the profile and the tree.
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
