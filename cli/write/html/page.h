// cli/write/html/page.h: a profile, or two, as one page of HTML that needs nothing else: no network, no other file.
//
// The page is cli/page, built into heapprof; what is written here is its data. It counts nothing itself that a report
// counts: sites, places and totals are the model's, so that all views agree.
//
// Guarantees
//  - The same profile gives the same bytes.
//  - Nothing of a profile can be taken for markup: names lie in JSON whose "<" are escaped, or in base64.
//  - What is left out is said on the page.
// Trust:    names and paths are strangers': the page shows them as text alone, and its policy (CSP) lets it ask for
//           nothing and run nothing but itself.
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/base/result.h"
#include "cli/model/profile/profile.h"
#include "cli/write/diff/diff_view.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// One profile of a page. pre: it is canonical, marked by suppressions and folds as a report's is.
struct PageSide {
  const Profile* profile = nullptr;
  std::string file;               // as the user named it
  std::vector<Problem> warnings;  // what a reader must be told before they trust it
  bool all_frames = false;        // the page begins with those that are not the user's own, too
};

void write_report_page(const PageSide& side, ByteSink* sink);
// Two on one page: what changed from the one to the other. pre: sides are those of `two`
void write_diff_page(const TwoProfiles& two, const DiffView& view, const BySide<PageSide>& sides, ByteSink* sink);

}  // namespace heapprof::cli
