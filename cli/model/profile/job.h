// cli/model/profile/job.h: a process's rank in a job of several ranks (MPI, Slurm), from the launcher's environment
// variables.
//
// Trust:    a process can set its own variables. So numbers are validated, texts are kept short and printable, and no
//           value is used as a path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heapprof::cli {

struct Job {
  std::string launcher;                // "Open MPI", "Slurm", "torchrun" …; empty: the process has no rank
  std::optional<uint64_t> rank;        // present if there is a launcher
  std::optional<uint64_t> ranks;       // how many ranks the job has; nullopt: unknown
  std::optional<uint64_t> local_rank;  // among the ranks of its host
  std::string host;                    // the launcher's name for it, else the machine's own
  std::string local_device;            // the GPU that the launcher assigned, "0" or "GPU-…"; empty: none, or several
  bool is_child = false;               // started by a process of the rank, with the same variables

  bool has_rank() const { return rank.has_value(); }
  // Whether this process is the rank itself, so that its end is the rank's end.
  bool is_rank_itself() const { return has_rank() && !is_child; }
};

inline constexpr uint64_t kMostRanks = 100'000'000;  // larger numbers in a variable or a file are refused

}  // namespace heapprof::cli
