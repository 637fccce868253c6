// cli/run/summary/summary_places.h: the summary's rows of places: those with the most memory at the peak, with
// temporary blocks, and with memory that is live at the end.
//
// Guarantees
//  - There are as many rows as fit the screen, three of each kind at most. Even if they do not fit, there are three
//    rows for the first device's peak and one of each other kind.
//  - Except for the first row of a kind, each row has at least a hundredth of the whole.
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

// The rows, prepared before the number of free lines is known. Keeps references to the profile and the tree.
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
