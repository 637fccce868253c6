// cli/merge/merge_step.h: heapprof merge as an MPI or Slurm job step: the launcher starts one process for each node or
// core (`srun heapprof merge …`, `mpirun -n N heapprof merge …`), each with its share of the files.
//
// Guarantees
//  - A file is merged once, whether folders are local to a node or shared (step_folder.h).
//  - Sums are merged on each node first, then across nodes; the result is that of one process that merges all files.
//  - A process that does not come in time is named, and only its own share is lost: the sums below it are used
//    directly.
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
  std::function<void(const std::string&)> say;  // told what it waits for, if that takes long
  std::function<void(const Problem&)> warn;     // told what process 0 knows, and ends with
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

  // Process 0: the sum of all that came. The others wait until finish() is called, whatever this returns.
  Result<StepSum> lead();
  // Copies the wanted profiles into the folder of whole ones, lets the other processes end, and removes intermediate
  // files. Returns the number of copies.
  Result<size_t> finish(const std::vector<KeptInput>& kept, const std::string& folder);

  // The other processes: the whole work. A problem that they reported to process 0 does not fail them: a launcher that
  // sees one process fail ends the others, while process 0 still writes.
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
