// cli/read/read_runs.cc: see read_runs.h.
#include "cli/read/read_runs.h"

#include "cli/base/problems.h"
#include "cli/read/profile_files.h"
#include "cli/read/read_moment.h"

namespace heapprof::cli {
namespace {

std::string words(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

Result<Profile> read_marked(const std::string& file, const Suppressions& suppressions) {
  Result<Profile> profile = read_profile_or_moment(file);
  if (profile && !profile->is_moment) mark_suppressed(suppressions, &*profile);
  return profile;
}

Result<std::vector<RunTotals>> read_runs(const std::vector<std::string>& files, const Suppressions& suppressions) {
  std::vector<RunTotals> runs;
  for (const std::string& file : files) {
    Result<Profile> profile = read_marked(file, suppressions);
    if (!profile) return profile.problem();
    runs.push_back(sum_run(*profile, file));
  }
  return runs;
}

Result<std::vector<RunTotals>> read_base_runs(const std::vector<std::string>& inputs, const RunTotals& current,
                                              const Suppressions& suppressions) {
  std::vector<RunTotals> base;
  for (const std::string& name : inputs) {
    Result<std::vector<std::string>> files =
        is_folder(name) ? profiles_in(name) : Result<std::vector<std::string>>(std::vector<std::string>{name});
    if (!files) return files.problem();
    Result<std::vector<RunTotals>> runs = read_runs(*files, suppressions);
    if (!runs) return runs.problem();
    if (is_folder(name)) std::erase_if(*runs, [&](const RunTotals& run) { return !is_same_command(run, current); });
    if (runs->empty()) return no_base_of_command(name, words(current.command));
    base.insert(base.end(), runs->begin(), runs->end());
  }
  return base;
}

}  // namespace heapprof::cli
