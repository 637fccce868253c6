// cli/write/report/report_view.h: what a report shows of a profile.
//
// Guarantees
//  - All formats show the same places with the same numbers; shares are relative to the device's totals.
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
  std::optional<Metric> sort;  // nullopt: peak, temporary and leaked, one after the other
  std::optional<size_t> top;   // nullopt: as many as fit a screen in text, all in JSON and CSV
  std::string device;          // empty: all
  bool tree = false;
  bool all_frames = false;
  bool sizes = false;                    // instead of the tables: the sizes of the places' blocks
  bool threads = false;                  // likewise: what each thread allocated
  bool packages = false;                 // likewise: whose code asked for the memory
  bool scopes = false;                   // likewise: the program's own scopes, and its marks
  bool stable = false;                   // scopes only, without what differs from run to run
  std::vector<CategoryRule> categories;  // applied to the profile's scopes
  std::string instances;                 // likewise: single runs of the scopes that this glob matches; empty: none
  std::string source;                    // likewise: the lines of this file or function; empty: not asked for
  bool critical_path = false;            // likewise: which runs, of all threads, made up the time
  bool exact_bytes = false;
  std::string file;                      // as the user named it
  std::vector<std::string> others = {};  // paths of the profiles of run.processes; empty: missing
  Suppressions suppressions;             // the rules that the profile was marked with
  bool list_suppressions = false;
  bool findings = false;                // instead of the tables
  bool snapshots = false;               // likewise
  std::optional<SnapshotPair> between;  // the two compared snapshots; nullopt: the first and the last
};

// The per-site numbers that the report's JSON and CSV have for this profile, in their order.
std::vector<const SiteField*> reported_numbers(const Profile& profile);
// A place's number; for leaks it includes suppressed ones. nullopt: it does not apply to the place, or is not known.
std::optional<uint64_t> reported_number(const PlaceNumbers& numbers, const SiteField& field);

// The devices that the view shows. pre: view.device is empty or the name of one.
std::vector<const Device*> shown_devices(const Profile& profile, const ReportView& view);

// The places that formats for scripts show: all, unless the view asks for fewer; ordered by the view's metric.
std::vector<uint32_t> ordered_places(const Profile& profile, const ReportView& view, const std::vector<Place>& places);

}  // namespace heapprof::cli
