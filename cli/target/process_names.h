// cli/target/process_names.h: what a process is called: its program, its rank; and who else belongs to a run.
//
// Trust:    all of it is the process's own word: it is cut, and never a path.
#pragma once

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
// The process's rank in a job of MPI, Slurm or torchrun; "none" if it has none.
std::string process_rank(pid_t pid);
// The pod of Kubernetes that it runs in: the variable POD_NAME, which a deployment sets by the downward API, else the
// host's name where Kubernetes' own variables are there. Empty: none.
std::string process_pod(pid_t pid);
// Processes that were started with a variable "NAME=...ENDING"; of those of `span`, if that is known.
std::vector<pid_t> processes_with(const std::string& name, const std::string& ending,
                                  const std::optional<PidSpan>& span = std::nullopt);

}  // namespace heapprof::cli
