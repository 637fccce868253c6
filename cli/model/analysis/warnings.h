// cli/model/analysis/warnings.h: what a reader of a profile must know before trusting it.
#pragma once

#include "cli/base/problems.h"
#include "cli/base/result.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <functional>
#include <vector>

namespace heapprof::cli {

// Returns advice for this machine about a module without names. It is called only if that is a warning.
using NamesAdviser = std::function<NamesAdvice(const ProfileModule&)>;

// The warnings of a profile, lost events first. If it is empty, the profile is complete. There are no warnings for
// files of other tools. tree: the profile's, if the caller has it.
std::vector<Problem> find_warnings(const Profile& profile, const NamesAdviser& adviser = {},
                                   const PlaceTree* tree = nullptr);

// Devices that refused memory: numbers of such a run mean less than they seem to. The summary and the report show more.
std::vector<Problem> find_refusals(const Profile& profile);

}  // namespace heapprof::cli
