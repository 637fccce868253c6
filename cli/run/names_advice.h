// cli/run/names_advice.h: what the user can do on this machine if a module has no names: install its package's symbols,
// and name the profile. Gives the package and the commands.
//
// Cost:     about a second (cli/target/debug_package.h), and only if names are missing. quick_names_adviser() costs
//           nothing.
#pragma once

#include "cli/base/problems.h"
#include "cli/model/analysis/warnings.h"
#include "cli/model/profile/profile.h"

#include <optional>
#include <string>

namespace heapprof::cli {

// profile_path: as the user should type it.
NamesAdvice advise_on_names(const ProfileModule& module, const std::string& profile_path);
// The same, bound to a profile's path.
NamesAdviser names_adviser(const std::string& profile_path);
// Only points to `heapprof symbolize`, because the end of a run must not wait for package managers.
NamesAdviser quick_names_adviser(const std::string& profile_path);

// "debuginfod has none", "debuginfod was not asked: DEBUGINFOD_URLS is not set". answer: an errno; 0: debuginfod sent a
// file; nullopt: it was not asked.
std::string debuginfod_text(const std::optional<int>& answer);

}  // namespace heapprof::cli
