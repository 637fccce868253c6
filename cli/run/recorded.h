// cli/run/recorded.h: the runs of a program that `check` judges, each with its profile.
#pragma once

#include "cli/base/result.h"
#include "cli/base/terminal.h"
#include "cli/model/budget.h"
#include "cli/model/profile.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// A folder that goes away with what is in it.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// One program's profiles: a file's, or those of its runs.
struct Recorded {
  std::vector<Profile> runs;
  std::vector<std::string> files;
  size_t others = 0;  // profiles of processes that it started
};

// Runs the budget's command as often as it says; up to a run that cannot be judged, since others cannot mend it.
Result<Recorded> record(const Budget& budget, const std::string& folder, ColorMode color);

// The run whose peak is nearest to the median: it is shown, and kept. pre: there is one
size_t representative(const std::vector<Profile>& runs);

// Whole or not at all.
Result<Done> copy_profile(const std::string& from, const std::string& to);

}  // namespace heapprof::cli
