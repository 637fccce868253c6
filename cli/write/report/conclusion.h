// cli/write/report/conclusion.h: the main result of a profile, for the first screen of a run, of a report and of the
// page.
//
// Cost:     that of find_findings() (cli/model/analysis/findings.h), once for each object.
#pragma once

#include "cli/model/analysis/findings.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

struct ConclusionLine {
  std::string label;  // "worst": first memory finding; "most": place with a third of the peak; "time": slow finding
  std::string sentence;
};

// Keeps a reference to the profile and to its tree.
class Conclusion {
 public:
  Conclusion(const Profile& profile, const PlaceTree& tree);

  const std::vector<Finding>& findings() const { return findings_; }
  // A line "worst", or if there is no such finding, "most"; and a line "time", if the first finding that costs much
  // time is worth it. `columns`: the room for a name.
  std::vector<ConclusionLine> lines(size_t columns) const;
  // The lines, broken at blanks, each below its label.
  std::string text(size_t columns) const;
  // The same, followed by "N more" and the command that shows these findings. `file` is the profile's file name, for
  // pasting.
  std::string text_with_call(const std::string& file, size_t columns) const;

 private:
  ConclusionLine line(const char* label, const Finding& finding, size_t columns) const;
  // At most one line. `problem`: the finding whose line it would replace; may be null.
  std::vector<ConclusionLine> most(size_t columns, const Finding* problem) const;
  std::string caller_text(const Device& device, const Place& place) const;

  const Profile& profile_;
  const PlaceTree& tree_;
  std::vector<Finding> findings_;
  std::vector<Finding> brief_growth_;
};

}  // namespace heapprof::cli
