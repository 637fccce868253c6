// cli/model/profile/job.h: the part of a process in a job of several ranks (MPI, Slurm), from its launcher's
// environment variables.
//
// Trust:    a process can set its own variables, so numbers are checked to be numbers, texts are short and printable,
//           and none is used as a path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heapprof::cli {

struct Job {
  std::string launcher;                // "Open MPI", "Slurm", "torchrun" …; empty: the process has no rank
  std::optional<uint64_t> rank;        // present if there is a launcher
  std::optional<uint64_t> ranks;       // how many the job has; none: unknown
  std::optional<uint64_t> local_rank;  // among those of its host
  std::string host;                    // the launcher's name for it, else the machine's own
  std::string local_device;            // the GPU that the launcher assigned, "0" or "GPU-…"; empty: none, or several
  bool is_child = false;               // started by a process of the rank, with the same variables

  bool has_rank() const { return rank.has_value(); }
  // Whether the rank succeeds and fails with this process.
  bool is_rank_itself() const { return has_rank() && !is_child; }
};

inline constexpr uint64_t kMostRanks = 100'000'000;  // larger numbers in a variable or a file are refused

}  // namespace heapprof::cli
