// cli/write/report/conclusion.h: the main result of a profile, for the first screen of a run, of a report and of the
// page.
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

struct ConclusionLine {
  std::string label;  // "worst": the first finding about memory; "most": what makes a third of the peak; "time"
  std::string sentence;
};

// Keeps a reference to the profile and to its tree.
class Conclusion {
 public:
  Conclusion(const Profile& profile, const PlaceTree& tree);

  const std::vector<Finding>& findings() const { return findings_; }
  // "worst", or "most" without such a finding; "time" if the first finding that costs time is worth a line. `columns`:
  // the room for a name.
  std::vector<ConclusionLine> lines(size_t columns) const;
  // The lines, broken at blanks, each below its label.
  std::string text(size_t columns) const;
  // The same, and "N more" with the call that shows them. `file` is the profile's file name, for pasting.
  std::string text_with_call(const std::string& file, size_t columns) const;

 private:
  ConclusionLine line(const char* label, const Finding& finding, size_t columns) const;
  // One line or none. `problem`: the finding that it would replace; may be null.
  std::vector<ConclusionLine> most(size_t columns, const Finding* problem) const;
  std::string caller_text(const Device& device, const Place& place) const;

  const Profile& profile_;
  const PlaceTree& tree_;
  std::vector<Finding> findings_;
  std::vector<Finding> brief_growth_;
};

}  // namespace heapprof::cli
