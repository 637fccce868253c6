// cli/merge/merge_step.h: heapprof merge as an MPI or Slurm job step: the launcher starts one process for each node or
// core (`srun heapprof merge …`, `mpirun -n N heapprof merge …`), each with its share of the files.
//
// Guarantees
//  - A file is merged once, whether folders are local to a node or shared (step_folder.h).
//  - Sums are merged on each node first, then across nodes; the result is that of one process that merges all files.
//  - If a process has no sum in time, it is named, and only its own share is lost: its parent then uses the sums below
//    it directly.
// Not provided: communication between the processes other than by files: no MPI library is needed, only a folder that
// all of them see.
// Context:  one thread; merge_files() has its own.
#pragma once

#include "cli/base/result.h"
#include "cli/merge/kept_profiles.h"
#include "cli/merge/merge_files.h"
#include "cli/merge/step_folder.h"
#include "cli/target/process_names.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

struct StepRequest {
  LauncherStep step;
  std::vector<std::string> files;  // those that this process sees
  std::string folder;              // that all see
  uint64_t wait_ns = 0;
  std::function<void(const std::string&)> say;  // called with what this process waits for, if that takes long
  std::function<void(const Problem&)> warn;     // called with a problem that process 0 knows, too
};

struct MissingProcess {
  uint64_t process = 0;
  std::string why;
};

struct StepSum {
  MergedFiles merged;
  std::vector<MissingProcess> missing;
};

class MergeStep {
 public:
  explicit MergeStep(StepRequest request);

  // For process 0: returns the sum of all processes that came. Whatever it returns, the others wait until finish() is
  // called.
  Result<StepSum> lead();
  // Copies the wanted profiles into `folder`, lets the other processes end, and removes intermediate files. Returns the
  // number of copies.
  Result<size_t> finish(const std::vector<KeptInput>& kept, const std::string& folder);

  // For the other processes: does all their work. A problem that was reported to process 0 is not returned: if a
  // launcher sees one process fail, it ends the others, even while process 0 is still writing.
  Result<Done> follow();

 private:
  struct Gathered {
    std::vector<Profile> sums;  // of its own files, and of the processes below
    std::vector<MissingProcess> missing;
    uint64_t snapshots = 0;
  };

  const StepTask* find_task(uint64_t process) const;
  uint64_t until_ns(const StepTask& task) const;
  Result<Gathered> gather(const StepTask& task);
  void gather_below(uint64_t process, uint64_t until_ns, std::vector<std::string>* parts, Gathered* gathered);
  Result<Done> keep(const std::string& text);

  StepRequest request_;
  StepFolder folder_;
  uint64_t start_ns_ = 0;
  std::vector<StepTask> plan_;
  std::vector<ReadFile> read_;  // those of its own share
};

}  // namespace heapprof::cli
