// cli/model/compare/rank_findings.h: what a merged profile says of its ranks: which failed, which are missing, and
// whose full profile is worth keeping.
//
// A process that a rank started can fail without its rank, and is not included.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// An input that the sum does not represent.
struct NotedInput {
  const MergedPart* part = nullptr;  // its first
  std::string why;                   // "killed by signal 9", "peak of host 3.00 GiB, median 1.00 GiB"
};

// Ranks that were killed or exited with a status other than 0; processes, if the profile has no ranks.
std::vector<NotedInput> find_failed_inputs(const Profile& profile);

// Those with a peak above the median by more than five times the median absolute deviation and by more than a quarter
// of the median, on any device; the furthest above first, at most kMostHighInputs.
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

// "rank 17 on node3"; the file of a process without a rank.
std::string input_name(const MergedPart& part);
// Counts ranks, and the hosts that they ran on ("node0, node1 …").
struct RankCount {
  uint64_t ranks = 0;
  uint64_t hosts = 0;
  std::string launcher;  // "Slurm"; "several launchers"
};
RankCount count_ranks(const Profile& profile);

}  // namespace heapprof::cli
