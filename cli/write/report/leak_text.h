// cli/write/report/leak_text.h: what `run --leak-check` found, for the summary and the report.
//
// Guarantees
//  - Bytes that are lost by way of others that are lost count as lost: who frees the others well frees these, too.
//  - Why nothing was judged is said; nothing at all where nobody asked.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"
#include "cli/write/text/place_text.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

struct LeakView {
  size_t columns = 80;
  bool exact_bytes = false;
  size_t most_places = 5;
  size_t indent = 0;  // of the places
};

// "lost       19.6 MiB in 10,000 blocks; still reachable 71.0 KiB in 1", with its end of line, and the place that lost
// most. Empty: it was not asked for.
std::string leak_lines(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const LeakView& view);

// A row for each place that lost something, the largest first, and which of them these are: "top 5 of 7 places".
// Without rows: none did. Where the profile says what owns what is lost, a row is a place of owners, with all that only
// they lead to: "top 5 of 7 owners"; of a cycle it has what else is in it, "with Node::attach (scene.cc:21)".
struct LostPlaces {
  std::string rows;
  std::string remark;
};
LostPlaces lost_places(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                       const LeakView& view);

}  // namespace heapprof::cli
