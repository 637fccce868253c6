// cli/write/report/packages_text.h: whose code asked for the memory, in words: a line below a device,
// and the table of --packages.
#pragma once

#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

struct PackagesLook {
  size_t top = 10;
  bool exact_bytes = false;
  size_t columns = 80;
  Metric metric = Metric::kPeak;
};

// "by package: numpy 63 %," "pandas 20 %," "(your code) 10 %": what has a hundredth of the peak, five at most. Empty
// of mapped memory (whose pieces anybody takes), and where there is nothing but one package.
std::vector<std::string> package_cells(const Profile& profile, const PlaceTree& tree, const Device& device);
// The same in lines of so many columns.
std::string package_lines(const Profile& profile, const PlaceTree& tree, const Device& device, size_t columns);

// A line each: peak and its share, live at exit, allocations and their bytes. Empty if all is of one.
std::string packages_table(const Profile& profile, const PlaceTree& tree, const Device& device,
                           const PackagesLook& look);

}  // namespace heapprof::cli
