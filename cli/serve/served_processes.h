// cli/serve/served_processes.h: describes the processes that are served.
//
// Trust:    the processes choose their names, ranks and pods.
#pragma once

#include "cli/model/top/top_sample.h"

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

struct ServedProcess {
  pid_t pid = 0;
  std::string program;               // its name
  std::vector<std::string> command;  // argv
  std::string rank;                  // empty: no rank; likewise the pod
  std::string pod;

  // The labels pid and command (the program's name), and rank and pod if known.
  std::vector<std::pair<std::string, std::string>> labels() const;
};

ServedProcess describe_process(pid_t pid);

// Describes the processes of `pids` that still exist. If `names` (globs) is not empty, only those whose program's name
// matches one.
std::vector<ServedProcess> describe_processes(const std::vector<pid_t>& pids, const std::vector<std::string>& names);

struct ResidentMemory {
  uint64_t now_bytes = 0;  // 0: unknown
  uint64_t peak_bytes = 0;
};
ResidentMemory resident_memory(pid_t pid);

// The HTML page at /debug/pprof/.
std::string index_page(const std::vector<ServedProcess>& processes);

}  // namespace heapprof::cli
