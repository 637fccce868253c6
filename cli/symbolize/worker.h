// cli/symbolize/worker.h: runs a list of jobs in a child process, so that one that crashes or never ends costs its own
// result.
//
// The jobs read strangers' ELF and DWARF through a C library; a profile that took hours must not be lost to one bad
// file.
//
// Guarantees
//  - take is called once for each job that finished, in order, in this process; a new child goes on behind a job that
//    did not.
//  - The child dies with this process, leaves no core file, and is the first that the kernel ends when memory is short.
// Context:  forks; waits for its own child by its id only. The jobs see this process's memory as it was at the call.
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
  unsigned job_silence_s = 900;  // time of one job; asking debuginfod's servers counts here
  uint64_t data_bytes = 0;       // most memory of all jobs, beyond what this process has; 0: half of the machine's
};

// Returns the jobs without a result.
std::vector<size_t> run_in_worker(size_t jobs, const WorkerLimits& limits,
                                  const std::function<std::string(size_t)>& job,
                                  const std::function<void(size_t, std::string)>& take);

}  // namespace heapprof::cli
