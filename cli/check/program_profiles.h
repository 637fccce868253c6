// cli/check/program_profiles.h: the profiles that one program's runs leave behind: its own, and those of the processes
// that it starts.
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

// A folder that goes away with what is in it.
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

// One program's profiles: a file's, or those of its runs.
struct ProgramProfiles {
  std::vector<Profile> runs;
  std::vector<std::string> files;
  Unjudged unjudged;  // what else left a profile: of the run with the most
};

// Runs the budget's command as often as it says, or until a run fails: the others cannot mend it.
Result<ProgramProfiles> profile_program(const Budget& budget, const Inherited& inherited, const std::string& folder,
                                        ColorMode color);

// What the process started, and heapprof could not see.
Unjudged count_unprofiled(const Profile& profile);

// A process that the program started: in each run the one with the same command, by when it was started.
struct StartedProcess {
  std::vector<std::string> command;
  std::vector<std::string> files;
};
// In the order of their commands. `look` sees each profile.
Result<std::vector<StartedProcess>> find_started(
    const std::string& folder, const std::function<Result<Done>(const Profile&, const std::string&)>& look);
Result<ProgramProfiles> read_started(const StartedProcess& process);

// The run whose peak is nearest to the median: it is shown, and kept. pre: there is one
size_t representative(const std::vector<Profile>& runs);

}  // namespace heapprof::cli
