// cli/run/summary_places.h: the rows of the summary: who has the memory at the peak, who makes blocks for a moment, who
// still has some at the end.
//
// Guarantees
//  - As many rows as there is room for on the screen, three of each at most; and three at the largest peak and one of
//    each other kind, whatever room there is.
//  - After the first of its kind no row has less than a hundredth.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

struct PlacesView {
  std::vector<const Device*> devices;
  size_t rows = 0;  // lines that are free, titles included
  size_t columns = 80;
  bool colored = false;
};

std::string place_sections(const Profile& profile, const PlaceTree& tree, const PlacesView& view);

}  // namespace heapprof::cli
