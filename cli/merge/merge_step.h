// cli/merge/merge_step.h: heapprof merge as a step of a job: one process for each node or core, started by the launcher
// (`srun heapprof merge …`, `mpirun -n N heapprof merge …`), each with its share of the files.
//
// Guarantees
//  - A file is merged once, whether folders are a node's own or shared (step_folder.h).
//  - Sums are reduced by node first, then over nodes; the result is that of one process that merges all files.
//  - Who does not come in time is named, and costs its own share alone: what was summed below it is taken over.
// Not provided: another way between the processes than files: no library of MPI is needed, and a folder is that all of
//           them see.
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
  std::vector<std::string> files;  // that this process sees
  std::string folder;              // that all see
  uint64_t wait_ns = 0;
  std::function<void(const std::string&)> say;  // what is waited for, where it takes long
  std::function<void(const Problem&)> warn;     // of what process 0 knows, and ends with
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

  // Process 0: the sum of all that came. Others wait until finish() was called, whatever this gives.
  Result<StepSum> lead();
  // Brings the profiles that are wanted into the folder of whole ones, lets the others go, and removes what was in
  // between. Returns how many were brought.
  Result<size_t> finish(const std::vector<KeptInput>& kept, const std::string& folder);

  // The other processes: from the first word to the last. What process 0 was told of is no problem of theirs: a
  // launcher that sees one process fail ends the others, while process 0 still writes.
  Result<Done> follow();

 private:
  struct Gathered {
    std::vector<Profile> sums;  // of its own files, and of those below
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
  std::vector<ReadFile> read_;  // of its own share
};

}  // namespace heapprof::cli
