// cli/model/profile/job.h: what a process is in a job of several ranks, as its launcher's variables say.
//
// Trust:    a process sets its own variables: numbers are numbers, texts are short and printable, and none is a path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heapprof::cli {

struct Job {
  std::string launcher;                // "Open MPI", "Slurm", "torchrun" …; empty: the process has no rank
  std::optional<uint64_t> rank;        // there wherever there is a launcher
  std::optional<uint64_t> ranks;       // how many the job has; none: not known
  std::optional<uint64_t> local_rank;  // among those of its host
  std::string host;                    // as the launcher calls it, else as the machine does
  std::string local_device;            // the card that the launcher gave it, "0" or "GPU-…"; empty: none, or several
  bool is_child = false;               // a process of the rank started it, with the same variables

  bool has_rank() const { return rank.has_value(); }
  // Whether the rank succeeds and fails with this process.
  bool is_rank_itself() const { return has_rank() && !is_child; }
};

inline constexpr uint64_t kMostRanks = 100'000'000;  // numbers of a variable, and of a file, beyond it are refused

}  // namespace heapprof::cli
