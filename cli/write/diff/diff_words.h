// cli/write/diff/diff_words.h: the texts that the text and Markdown formats of a diff share: names of places, and
// sentences.
//
// Trust:    names are escaped for a terminal; Markdown escapes them further.
#pragma once

#include "cli/write/diff/diff_view.h"
#include "cli/write/text/place_text.h"

#include <string>
#include <vector>

namespace heapprof::cli {

class DiffWords {
 public:
  // Keeps references to both.
  DiffWords(const TwoProfiles& two, const DiffView& view);

  std::string metric(Metric metric) const;                        // "peak", "live at exit"
  std::string value(Metric metric, uint64_t number) const;        // "1.92 GiB", "18.4 M"
  std::string change(Metric metric, const Change& change) const;  // "+215 MiB"
  std::string explained(const DiffSection& section) const;        // "+213 MiB"
  std::string slack(Metric metric) const;                         // "1 % or 4.00 KiB"

  // The function's name in the current profile, or in the base if the current one lacks the place. Functions without a
  // name are one place per module, "[no names]".
  std::string function(const PlaceChange& place) const;
  // changed: from find_changed_frames() (cli/model/compare/diff.h). A line of the base is marked as such.
  std::string location(const ChangedFrame& changed) const;
  // The callers in those stacks of the place whose change has the sign of the place's: "parse ← main". First come the
  // callers that all these stacks share, then the share of each caller in which they differ.
  std::string callers(const PlaceChange& place, Metric metric, bool with_locations, size_t columns) const;

  // The main result: "host peak grew 12.3 %, mostly in build_index (index.cc:212)". One sentence for each metric that
  // changed beyond its tolerance, the most important first. If no total did, one sentence says so, and whether places
  // changed.
  std::vector<std::string> sentences(const std::vector<DiffSection>& sections) const;
  // Remarks on devices that only one profile has, on how much runs differ, on peaks that are sums, and on folded
  // functions.
  std::vector<std::string> remarks() const;

 private:
  std::string sentence(const DiffSection& section) const;
  std::string culprit(const DiffSection& section) const;
  std::string changed_places(const std::vector<DiffSection>& sections) const;
  // The side whose names are shown.
  static Side named_side(const PlaceChange& place) { return place.frame[kCurrent] != kNoFrame ? kCurrent : kBase; }

  const TwoProfiles& two_;
  const DiffView& view_;
  BySide<FrameNames> names_;
  std::string_view live_;  // the word for what was live at the end
};

std::string number_text(const DiffView& view, Metric metric, uint64_t number);
std::string resident_text(const DiffView& view, std::optional<uint64_t> bytes);  // "-": not known
std::string change_text(const DiffView& view, Metric metric, const Change& change);
// "±0.2 % (5 base runs)"; empty if each side is one run.
std::string noise_text(const BySide<std::vector<RunTotals>>& runs, const Ratio& noise);

}  // namespace heapprof::cli
