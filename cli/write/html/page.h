// cli/write/html/page.h: a profile, or two, as one page of HTML that needs nothing else: no network, no other file.
//
// The page is cli/page, built into heapprof; the functions here write its data. The page does not compute numbers that
// a report has: sites, places and totals come from the model, so that all views agree.
//
// Guarantees
//  - The same profile gives the same bytes.
//  - No text of a profile can be taken for markup: names are in JSON with escaped "<", or in base64.
//  - The page says what is left out.
// Trust:    names and paths are not trusted: the page shows them as text only, and its policy (CSP) lets it load
//           nothing and run only its own code.
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/base/result.h"
#include "cli/model/profile/profile.h"
#include "cli/write/diff/diff_view.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// One profile of a page. pre: it is canonical, and marked by suppressions and folds as for a report.
struct PageSide {
  const Profile* profile = nullptr;
  std::string file;               // as the user named it
  std::vector<Problem> warnings;  // what a reader must know before trusting the profile
  bool all_frames = false;        // the page shows system frames, too, when it opens
};

void write_report_page(const PageSide& side, ByteSink* sink);
// Both profiles on one page, with the changes from base to current. pre: `sides` are those of `two`
void write_diff_page(const TwoProfiles& two, const DiffView& view, const BySide<PageSide>& sides, ByteSink* sink);

}  // namespace heapprof::cli
