// cli/target/process_names.h: what a process is called: its program, its rank; and which other processes belong to a
// run.
//
// Trust:    all of it is chosen by the process: it is cut, and never used as a path.
#pragma once

#include "cli/model/profile/job.h"
#include "cli/target/process_births.h"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// Name of the script that it runs, else of its executable; without slashes, never empty.
std::string program_name(const std::string& executable, const std::vector<std::string>& command,
                         const std::string& comm);
// The name under which the kernel shows the process, at most 15 bytes; empty: unknown.
std::string process_comm(pid_t pid);
// What the process's launcher set; without a launcher if no variable of one is a number.
Job process_job(pid_t pid);
// For a process that may be a child of one of the same rank.
Job process_job(pid_t pid, pid_t parent);
// The job step of several processes that this very process is one of. Of MPI and Slurm only: torchrun starts nothing
// but Python programs.
struct LauncherStep {
  uint64_t rank = 0;
  uint64_t size = 1;
  std::string id;    // the same for all of the step, and for no other step; empty: the launcher gives no id
  std::string host;  // as in Job
};
LauncherStep own_step();
// The rank as a file's name has it; "none" without one.
std::string rank_text(const Job& job);
// The pod of Kubernetes that it runs in: the variable POD_NAME, which a deployment sets by the downward API, else the
// host's name if Kubernetes' own variables are set. Empty: none.
std::string process_pod(pid_t pid);
// Processes that were started with a variable "NAME=...ENDING"; only those in `span`, if that is known.
std::vector<pid_t> processes_with(const std::string& name, const std::string& ending,
                                  const std::optional<PidSpan>& span = std::nullopt);

}  // namespace heapprof::cli
