// cli/write/report/sizes_text.h: of what sizes a place's blocks were, as bars.
#pragma once

#include "cli/model/analysis/places.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

struct SizesLook {
  bool exact_bytes = false;
  bool has_coarse_sizes = false;  // of the profile
  size_t indent = 0;
  size_t columns = 80;
};

// How many blocks of what sizes, and below it, unless all are of one size, a bar for each power of two that has some:
// by size, and where there are many, the least frequent ones in one line.
std::vector<std::string> sizes_lines(const PlaceNumbers& numbers, const SizesLook& look);

}  // namespace heapprof::cli
