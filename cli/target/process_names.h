// cli/target/process_names.h: what a process is called: its program, its rank; and who else belongs to a run.
//
// Trust:    all of it is the process's own word: it is cut, and never a path.
#pragma once

#include "cli/model/profile/job.h"
#include "cli/target/process_births.h"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// Name of the script that it runs, else of its executable's file; without slashes, never empty.
std::string program_name(const std::string& executable, const std::vector<std::string>& command,
                         const std::string& comm);
// The name under which the kernel shows the process, at most 15 bytes; empty: unknown.
std::string process_comm(pid_t pid);
// What the process's launcher told it; without a launcher where no variable of one is a number.
Job process_job(pid_t pid);
// Of one that may be a child of a process of the same rank.
Job process_job(pid_t pid, pid_t parent);
// The launcher's step that this very process is one of several processes of: of MPI and Slurm, as torchrun starts none
// but Python programs.
struct LauncherStep {
  uint64_t rank = 0;
  uint64_t size = 1;
  std::string id;    // the same for all of the step, and for no other; empty: the launcher has none
  std::string host;  // as in Job
};
LauncherStep own_step();
// The rank as it stands in a file's name; "none" without one.
std::string rank_text(const Job& job);
// The pod of Kubernetes that it runs in: the variable POD_NAME, which a deployment sets by the downward API, else the
// host's name where Kubernetes' own variables are there. Empty: none.
std::string process_pod(pid_t pid);
// Processes that were started with a variable "NAME=...ENDING"; of those of `span`, if that is known.
std::vector<pid_t> processes_with(const std::string& name, const std::string& ending,
                                  const std::optional<PidSpan>& span = std::nullopt);

}  // namespace heapprof::cli
