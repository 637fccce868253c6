// cli/check/program_profiles.h: the profiles of one program's runs: its own, and those of the processes that it starts.
#pragma once

#include "cli/base/result.h"
#include "cli/base/terminal.h"
#include "cli/model/judge/budget.h"
#include "cli/model/judge/verdict.h"
#include "cli/model/profile/profile.h"
#include "cli/run/inherited.h"

#include <functional>
#include <string>
#include <vector>

namespace heapprof::cli {

// A folder that is removed with its content.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// One program's profiles: that of a file, or those of its runs.
struct ProgramProfiles {
  std::vector<Profile> runs;
  std::vector<std::string> files;
  Unjudged unjudged;  // other processes: the most that any run had
};

// Runs the budget's command as often as the budget says, or until a run fails: further runs cannot change that.
Result<ProgramProfiles> profile_program(const Budget& budget, const Inherited& inherited, const std::string& folder,
                                        ColorMode color);

// Counts the processes that the program started, and that heapprof could not profile.
Unjudged count_unprofiled(const Profile& profile);

// A process that the program started, with its profile from each run. In each run it is the process with the same
// command; if several have it, the one with the same number in the order of their start.
struct StartedProcess {
  std::vector<std::string> command;
  std::vector<std::string> files;
};
// In the order of their commands. `look` is called for each profile.
Result<std::vector<StartedProcess>> find_started(
    const std::string& folder, const std::function<Result<Done>(const Profile&, const std::string&)>& look);
Result<ProgramProfiles> read_started(const StartedProcess& process);

// The run whose peak is nearest to the median: it is shown, and kept. pre: `runs` is not empty
size_t representative(const std::vector<Profile>& runs);

}  // namespace heapprof::cli
