// cli/write/report/worst_text.h: what a summary says of the findings of a profile: the costliest in one sentence, and
// how to see the others.
//
// Cost:     of find_findings (cli/model/analysis/findings.h), once for each object.
#pragma once

#include "cli/model/analysis/findings.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

// Keeps a reference to the profile and to its tree.
class Worst {
 public:
  Worst(const Profile& profile, const PlaceTree& tree);

  // "worst  19.5 MiB in 10,000 small blocks from …", broken at blanks, then "N more" and the call that shows them;
  //         empty
  // where there are none. `file` is the profile's, as it can be pasted.
  std::string text(const std::string& file, size_t columns) const;

 private:
  const Profile& profile_;
  const PlaceTree& tree_;
  std::vector<Finding> findings_;
};

}  // namespace heapprof::cli
