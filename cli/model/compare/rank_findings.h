// cli/model/compare/rank_findings.h: what a merged profile says about its ranks: which ranks failed, which are missing,
// and which ranks' full profiles are worth keeping.
//
// Processes that a rank started are not included, because they can fail while the rank succeeds.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// An input that differs from what the sum shows.
struct NotedInput {
  const MergedPart* part = nullptr;  // the input's first part
  std::string why;                   // "killed by signal 9", "peak of host 3.00 GiB, median 1.00 GiB"
};

// Ranks that were killed or exited with a status other than 0. If the profile has no ranks, processes that did.
std::vector<NotedInput> find_failed_inputs(const Profile& profile);

// Inputs whose peak, on any device, is above the median by more than five times the median absolute deviation and by
// more than a quarter of the median. The furthest above comes first; at most kMostHighInputs.
inline constexpr size_t kMostHighInputs = 8;
inline constexpr uint64_t kDeviationsAbove = 5;
std::vector<NotedInput> find_high_inputs(const Profile& profile);

// Ranks of the job without a profile, if all inputs with a rank state the same number of ranks.
struct MissingRanks {
  uint64_t count = 0;
  uint64_t ranks = 0;           // of the job
  std::vector<uint64_t> first;  // at most kMostNamedRanks
};
inline constexpr size_t kMostNamedRanks = 20;
MissingRanks find_missing_ranks(const Profile& profile);

// "rank 17 on node3"; for a process without a rank, its file.
std::string input_name(const MergedPart& part);
// Counts ranks, and the hosts that they ran on ("node0, node1 …").
struct RankCount {
  uint64_t ranks = 0;
  uint64_t hosts = 0;
  std::string launcher;  // "Slurm"; "several launchers"
};
RankCount count_ranks(const Profile& profile);

}  // namespace heapprof::cli
