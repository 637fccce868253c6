// cli/commands/finisher.h: from the numbers of one program image to its profile on disk.
//
// Guarantees
//  - The profile's invariants are checked before it is written; a violation is said, and stands in the profile.
//  - Children are finished in a thread of their own, so that the processes still running are not kept waiting.
// Context:  submit() and collect_saved() from one thread.
#pragma once

#include "cli/base/result.h"
#include "cli/base/terminal.h"
#include "cli/commands/symbol_cache.h"
#include "cli/model/profile.h"
#include "cli/model/recording.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace heapprof::cli {

struct FinishOptions {
  bool all_sites = false;
  bool show_progress = false;  // of finish(), on stderr, while names are looked up
  ColorMode color = ColorMode::kAuto;
};

struct FinishJob {
  Recording recording;
  std::string path;
  bool may_overwrite = false;  // false: another name is chosen if there is such a file
};

struct SavedProfile {
  std::string path;
  uint64_t size_bytes = 0;
  uint64_t pid = 0;
  std::vector<std::string> command;
  uint64_t peak_bytes = 0;
  size_t violations = 0;
};

struct Finished {
  SavedProfile saved;
  Profile profile;
};

class Finisher {
 public:
  explicit Finisher(const FinishOptions& options);
  ~Finisher();
  Finisher(const Finisher&) = delete;
  Finisher& operator=(const Finisher&) = delete;

  // Symbolizes, assembles, checks, writes; at once.
  Result<Finished> finish(FinishJob job);
  // The same, when its turn comes.
  void submit(FinishJob job);
  // Waits for everything submitted; call once, at the end. Problems go to *problems.
  std::vector<SavedProfile> collect_saved(std::vector<Problem>* problems);

 private:
  Result<Finished> finish(FinishJob job, const SymbolizeOptions& symbolize_options);
  void work();

  FinishOptions options_;
  SymbolCache symbols_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FinishJob> waiting_;
  bool closed_ = false;
  std::vector<SavedProfile> saved_;
  std::vector<Problem> problems_;
  std::thread worker_;  // started by the first job
};

}  // namespace heapprof::cli
