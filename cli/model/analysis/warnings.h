// cli/model/analysis/warnings.h: what a reader of a profile must be told before they trust it.
#pragma once

#include "cli/base/problems.h"
#include "cli/base/result.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <functional>
#include <vector>

namespace heapprof::cli {

// What helps here where a module has no names; called where that is a warning.
using NamesAdviser = std::function<NamesAdvice(const ProfileModule&)>;

// The warnings of a profile, lost events first; none: the profile is whole. Files of other tools carry nothing to warn
// of. tree: the profile's, where the caller has it.
std::vector<Problem> find_warnings(const Profile& profile, const NamesAdviser& adviser = {},
                                   const PlaceTree* tree = nullptr);

// Devices that refused memory: numbers of such a run say less than they seem to. The summary and the report show more
// of it.
std::vector<Problem> find_refusals(const Profile& profile);

}  // namespace heapprof::cli
