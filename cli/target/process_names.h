// cli/target/process_names.h: finds names for a process: its program, its rank, its pod. Also finds the processes that
// belong to a run.
//
// Trust:    the process chooses all of these texts. They are cut, and never used as a path.
#pragma once

#include "cli/model/profile/job.h"
#include "cli/target/process_births.h"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// The name of the script that a process runs, or of its executable; without slashes, never empty.
std::string program_name(const std::string& executable, const std::vector<std::string>& command,
                         const std::string& comm);
// The name under which the kernel shows the process, at most 15 bytes; empty: unknown.
std::string process_comm(pid_t pid);
// The job that the variables of a launcher (MPI, torchrun, Slurm) describe. Without a launcher if no launcher's rank
// variable is a number.
Job process_job(pid_t pid);
// The same, for a process that may be a child of a process with the same rank (Job::is_child).
Job process_job(pid_t pid, pid_t parent);
// The job step of several processes to which this heapprof process belongs. Only for MPI and Slurm, because torchrun
// starts only Python programs.
struct LauncherStep {
  uint64_t rank = 0;
  uint64_t size = 1;
  std::string id;    // the same in all processes of the step, and in no other; empty: unknown
  std::string host;  // as in Job
};
LauncherStep own_step();
// The rank as used in file names; "none" if there is no rank.
std::string rank_text(const Job& job);
// The Kubernetes pod in which the process runs. It is in the variable POD_NAME (or K8S_POD_NAME, MY_POD_NAME), which a
// deployment sets by the downward API. Else it is HOSTNAME, if Kubernetes' own variables are set. Empty: no pod.
std::string process_pod(pid_t pid);
// The processes that were started with a variable "NAME=…ENDING"; if `span` is given, only those with a pid in it.
std::vector<pid_t> processes_with(const std::string& name, const std::string& ending,
                                  const std::optional<PidSpan>& span = std::nullopt);

}  // namespace heapprof::cli
