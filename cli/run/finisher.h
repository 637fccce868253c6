// cli/run/finisher.h: turns the numbers of one program image into its profile on disk.
//
// Guarantees
//  - The profile's invariants are checked before it is written; a violation is reported, and noted in the profile.
//  - The profiles of child processes are written in separate threads, so that running processes do not wait.
//  - Memory is bounded, even if processes end faster than their profiles can be written. Waiting jobs beyond
//    `most_waiting_bytes` are moved to disk, into the folder of the profiles. The same bound applies to the jobs being
//    worked on, but one job is always allowed. Each module's file has only one open descriptor.
//  - If memory runs out, the profile is written without names, then also without stacks, and says so. Totals, peak and
//    curve stay exact.
// Context:  submit() and collect_saved() from one thread. submit() does not wait: its caller drains the rings.
#pragma once

#include "cli/base/progress.h"
#include "cli/base/result.h"
#include "cli/model/profile/profile.h"
#include "cli/model/profile/recording.h"
#include "cli/run/process_tree.h"
#include "cli/run/spill_file.h"
#include "cli/run/symbol_cache.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace heapprof::cli {

struct FinishOptions {
  bool all_sites = false;
  bool has_names = true;  // false: only names for which no file has to be read
  uint64_t most_waiting_bytes = 256ull << 20;
  uint64_t names_bytes = 0;  // memory limit of the process that reads names; 0: half of the machine's
  std::string names_folder;  // of names of earlier runs (NameStore); empty: none
};

struct FinishJob {
  Recording recording;
  std::string path;
  bool may_overwrite = false;   // false: if the file exists, another name is chosen
  uint32_t entry = 0;           // the process's index in the ProcessTree; returned with the saved profile
  std::string spare_name = {};  // name in a folder for temporary files, if `path` cannot be written; empty: none
};

struct SavedProfile {
  std::string path;  // empty: the profile could not be written
  uint64_t size_bytes = 0;
  uint64_t pid = 0;
  uint64_t parent_pid = 0;
  uint32_t image = 0;
  std::vector<std::string> command;
  uint64_t peak_bytes = 0;          // of the heap and of mapped memory, added
  uint64_t resident_bytes = 0;      // the most resident memory; 0: unknown
  uint64_t lost = 0;                // lost events
  std::vector<DevicePeak> devices;  // GPUs, the largest first
  std::vector<RefusedDevice> refused;
  size_t violations = 0;
  uint32_t entry = 0;
  bool has_ended_well = false;  // with exit 0, by an exec, or in an unknown way
  bool is_dropped = false;      // a small process, one of many: its file is removed
  std::string title = {};       // as RunInfo::title
};

struct Finished {
  SavedProfile saved;
  std::unique_ptr<Profile> profile;  // never null; its address does not change
  std::optional<Problem> elsewhere;  // set if the file has the spare name: the reason
};

class Finisher {
 public:
  explicit Finisher(const FinishOptions& options);
  ~Finisher();
  Finisher(const Finisher&) = delete;
  Finisher& operator=(const Finisher&) = delete;

  // Symbolizes, assembles, checks and writes a profile, at once. `complete` adds to the profile what is known only when
  // all other profiles are written; it is not called if memory runs out before. `beside` is called while a second
  // thread writes the profile, or, without a second thread, after the writing. It may set only fields that are not
  // written to the file (Profile::folds, Site::suppressed_by).
  using Complete = std::function<void(Profile*)>;
  using Beside = std::function<void(Profile*)>;
  // Reports to `progress` what finish() and collect_saved() do; null: no reports.
  void show_progress(Progress* progress) { progress_ = progress; }
  Result<Finished> finish(FinishJob job, const Complete& complete = {}, const Beside& beside = {});
  // Queues the job: a worker thread does the same when its turn comes.
  void submit(FinishJob job);
  // Waits for everything submitted; call once, at the end. Problems go to *problems; a profile that could not be
  // written is in the list, without a path.
  std::vector<SavedProfile> collect_saved(std::vector<Problem>* problems);

  // How many of the waiting jobs were moved to disk.
  size_t spilled() const { return spilled_; }

 private:
  struct Waiting {
    FinishJob job;
    uint64_t bytes = 0;                       // of the recording's lists; in memory unless `extent` is set
    std::optional<SpillFile::Extent> extent;  // where the lists are on disk
    bool is_moving = false;                   // the spiller is writing it
  };

  Result<Finished> finish(FinishJob job, const SymbolizeOptions& symbolize_options, const Complete& complete,
                          const Beside& beside);
  Result<Finished> finish_waiting(Waiting waiting);
  bool is_idle();
  void share_files(Recording* recording);
  std::list<Waiting>::iterator next_job();
  std::list<Waiting>::iterator next_to_spill();
  void work();
  void spill();

  void say(const std::string& work) const {
    if (progress_ != nullptr) progress_->say(work);
  }

  FinishOptions options_;
  Progress* progress_ = nullptr;
  SymbolCache symbols_;
  std::map<std::pair<uint64_t, uint64_t>, std::weak_ptr<UniqueFd>> files_;  // by device and inode
  std::mutex mutex_;                                                        // guards the fields below, not the threads
  std::condition_variable changed_;
  std::list<Waiting> waiting_;  // oldest first
  uint64_t waiting_bytes_ = 0;  // in memory
  uint64_t working_bytes_ = 0;  // of the jobs being worked on
  size_t idle_workers_ = 0;
  size_t submitted_ = 0;
  size_t done_ = 0;
  size_t spilled_ = 0;
  bool closed_ = false;
  bool disk_is_full_ = false;  // nothing more is moved; profiles fail as well, so the queue soon empties
  std::optional<SpillFile> disk_;
  std::vector<SavedProfile> saved_;
  std::vector<Problem> problems_;
  std::vector<std::thread> workers_;  // if no worker is idle, submit() starts one
  std::thread spiller_;               // started when the bound is first reached
};

}  // namespace heapprof::cli
