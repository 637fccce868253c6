// cli/symbolize/worker.h: runs a list of jobs in a child process, so that a job that crashes or never ends loses only
// its own result.
//
// The jobs read untrusted ELF and DWARF through a C library; one bad file must not cost a profile that took hours.
//
// Guarantees
//  - take is called once for each finished job, in order, in this process; after a job that did not finish, a new child
//    continues with the next one.
//  - The child dies with this process, leaves no core file, and is the first that the kernel kills when memory runs
//    short.
// Context:  forks; waits only for its own child, by its pid. The jobs see this process's memory as it was at the call.
//           Other threads do not run in the child, so jobs must not need a lock that another thread may hold.
// Cost:     one fork, and a copy of each result through a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct WorkerLimits {
  unsigned job_cpu_s = 300;      // processor time of one job
  unsigned job_silence_s = 900;  // elapsed time of one job, including queries of debuginfod's servers
  uint64_t data_bytes = 0;       // most memory of all jobs, beyond what this process has; 0: half of the machine's
};

// Returns the jobs without a result.
std::vector<size_t> run_in_worker(size_t jobs, const WorkerLimits& limits,
                                  const std::function<std::string(size_t)>& job,
                                  const std::function<void(size_t, std::string)>& take);

}  // namespace heapprof::cli
