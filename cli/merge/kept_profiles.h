// cli/merge/kept_profiles.h: single profiles that are kept in addition to a sum: those of ranks that failed, and of
// ranks with a peak far above the others'.
#pragma once

#include "cli/base/result.h"
#include "cli/merge/merge_files.h"
#include "cli/model/compare/rank_findings.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

inline constexpr size_t kMostFailedKept = 32;

// An input whose profile is kept: the identity of its file, and its new name.
struct KeptInput {
  ReadFile file;  // without a path
  std::string host;
  std::string name;
  std::string why;  // "rank 17 on node3: killed by signal 9"
};
// Returns the inputs that failed, at most kMostFailedKept, then those with a high peak. Names are unique.
std::vector<KeptInput> choose_kept(const Profile& profile);

// "all.ranks" for "all.json".
std::string kept_folder(const std::string& output);

// Copies the kept profiles that are among `files`, and returns their number. Makes the folder if there is one to copy.
Result<size_t> keep_profiles(const std::vector<KeptInput>& kept, const std::vector<ReadFile>& files,
                             const std::string& folder);

}  // namespace heapprof::cli
