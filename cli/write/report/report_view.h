// cli/write/report/report_view.h: what a report shows of a profile.
//
// Guarantees
//  - All formats show the same places with the same numbers; the shares are of the device's totals.
#pragma once

#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/moment.h"
#include "cli/model/analysis/places.h"
#include "cli/model/analysis/scope_categories.h"
#include "cli/model/analysis/suppressions.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct ReportView {
  std::optional<Metric> sort;  // none: peak, temporary and leaked, one after the other
  std::optional<size_t> top;   // none: as many as fit a screen in text, all in JSON and CSV
  std::string device;          // empty: all
  bool tree = false;
  bool all_frames = false;
  bool sizes = false;                    // in place of the tables: of what sizes the places' blocks were
  bool threads = false;                  // likewise: what each thread allocated
  bool packages = false;                 // likewise: whose code asked for the memory
  bool scopes = false;                   // likewise: the program's own scopes, and its marks
  bool stable = false;                   // scopes alone, without what differs from run to run
  std::vector<CategoryRule> categories;  // those that the profile's scopes were given
  std::string instances;                 // likewise: single runs through the scopes that this glob means; empty: none
  std::string source;                    // likewise: the lines of this file or function; empty: not asked for
  bool critical_path = false;            // likewise: which runs, of all threads, made up the time
  bool exact_bytes = false;
  std::string file;                      // as the user named it
  std::vector<std::string> others = {};  // where the profiles of run.processes are; empty: not there
  Suppressions suppressions;             // those that the profile was marked with
  bool list_suppressions = false;
  bool findings = false;                // in place of the tables
  bool snapshots = false;               // likewise
  std::optional<SnapshotPair> between;  // which two of them are compared; none: the first and the last
};

// The per-site numbers that the report's JSON and CSV have of a profile of this kind, in their order.
std::vector<const SiteField*> reported_numbers(const Profile& profile);
// A place's; of leaks those that are suppressed too. None: the place has nothing of which that could be said, or it is
// not known.
std::optional<uint64_t> reported_number(const PlaceNumbers& numbers, const SiteField& field);

// The devices that the view is about. pre: view.device is empty or the name of one.
std::vector<const Device*> shown_devices(const Profile& profile, const ReportView& view);

// Places for formats that scripts read: all, unless the view asks for fewer; the first by the view's metric.
std::vector<uint32_t> ordered_places(const Profile& profile, const ReportView& view, const std::vector<Place>& places);

}  // namespace heapprof::cli
