// cli/model/analysis/group.h: sums the many smallest sites into rows, so that a profile's file stays small enough to
// open.
//
// 958,000 stacks (one C++ compiler run) are 136 MB of JSON; nearly all of them are below 0.01 % in every metric.
//
// Guarantees
//  - Sums over sites stay exact; a row says how many stacks it holds (Site::grouped_stacks).
//  - A site is grouped only beyond the first `kept_sites` and if its share of every total (peak, total, leaked bytes
//    and blocks, temporary blocks) is below 0.01 %.
//  - A row's stack is its sites' common innermost frames, with "[small sites]" instead of the outer ones. In a Python
//    program it also has all frames that show whose memory it is (python/rows.h), or only those, with "[small sites]"
//    in between.
//  - Places, packages and imports of a Python program are as exact as without rows.
//  - The profile is canonical afterwards.
// Cost:     as canonicalize; nothing for profiles with fewer sites.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstddef>

namespace heapprof::cli {

struct GroupOptions {
  size_t kept_sites = 50'000;      // per device
  size_t most_rows = 10'000;       // per device, for the groups
  bool has_second_thread = false;  // lets assemble_grouped() use a second thread; the result is the same
};

// For a Python program: its stacks are three times as deep, and its rows have all frames that identify places and
// packages (python/rows.h).
inline constexpr GroupOptions kPythonGrouping{.kept_sites = 5000, .most_rows = 5000};

// Whether a site's share of every total is so small that it may go into a row.
bool is_small_site(const SiteNumbers& site, const DeviceTotals& totals);

// Returns the number of stacks that went into rows. pre: the profile is canonical. (assemble_grouped.h makes the same
// profile directly from a recording, without the many sites.)
size_t group_small_sites(Profile* profile, const GroupOptions& options);

}  // namespace heapprof::cli
