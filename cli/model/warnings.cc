// cli/model/warnings.cc: every counter that makes a number wrong or a stack short reaches the user here.
#include "cli/model/warnings.h"

#include "cli/base/problems.h"

#include <algorithm>
#include <string>

namespace heapprof::cli {
namespace {

constexpr size_t kMostNames = 5;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string list_names(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) text += (i == 0 ? "" : ", ") + base_name(names[i]);
  if (names.size() > kMostNames) text += " and " + std::to_string(names.size() - kMostNames) + " more";
  return text;
}

}  // namespace

std::vector<Problem> find_warnings(const Profile& profile) {
  std::vector<Problem> warnings;
  if (profile.dialect != Dialect::kHeapprof) return warnings;
  const Counters& counters = profile.run.counters;
  const Coverage& coverage = profile.run.coverage;
  const uint64_t events = counters.allocations + counters.frees;
  if (counters.lost > 0) warnings.push_back(events_lost({counters.lost, events + counters.lost}));
  if (!profile.run.complete && counters.lost == 0)
    warnings.push_back(profile_incomplete(profile.run.incomplete_reason));
  if (counters.corrupt_records > 0) warnings.push_back(records_corrupt(counters.corrupt_records));
  if (!coverage.self_test_failures.empty())
    warnings.push_back(self_test_failed(list_names(coverage.self_test_failures)));
  if (!coverage.bypassing_modules.empty())
    warnings.push_back(modules_bypass_hooks(list_names(coverage.bypassing_modules)));
  if (counters.verify_mismatched > 0)
    warnings.push_back(verification_failed({counters.verify_mismatched, counters.verify_checked}));
  if (counters.truncated_stacks > 0)
    warnings.push_back(stacks_truncated({counters.truncated_stacks, counters.allocations}));
  if (coverage.clock == "sequence") warnings.push_back(clock_without_time(coverage.clock));
  return warnings;
}

}  // namespace heapprof::cli
