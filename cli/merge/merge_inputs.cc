// cli/merge/merge_inputs.cc: see merge_inputs.h. Links and several names of one file are recognised by its inode.
#include "cli/merge/merge_inputs.h"

#include "cli/base/problems.h"
#include "cli/read/profile_files.h"

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace heapprof::cli {
namespace {

using FileId = std::pair<uint64_t, uint64_t>;  // device and inode
std::optional<FileId> identify(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return std::nullopt;
  return FileId{facts.st_dev, facts.st_ino};
}

}  // namespace

Result<std::vector<std::string>> find_inputs(const std::vector<std::string>& named, const std::string& output,
                                             bool is_share) {
  const std::optional<FileId> out = identify(output);
  std::vector<std::string> files;
  std::set<FileId> seen;
  for (const std::string& input : named) {
    if (is_share && !identify(input)) continue;
    const bool is_whole_folder = is_folder(input);
    Result<std::vector<std::string>> found =
        is_whole_folder ? profiles_in(input) : Result<std::vector<std::string>>(std::vector<std::string>{input});
    if (!found && is_share && found.problem().id == folder_without_profiles(input).id) continue;
    if (!found) return found.problem();
    // A repeated merge must not count its own result.
    if (is_whole_folder) std::erase_if(*found, [&](const std::string& file) { return out && identify(file) == out; });
    if (found->empty() && !is_share) return folder_without_profiles(input);
    for (const std::string& file : *found) {
      const std::optional<FileId> id = identify(file);
      if (id && id == out) return bad_value("-o", output, "a file that is not merged into itself");
      if (id && !seen.insert(*id).second) return profile_named_twice(file);
      files.push_back(file);
    }
  }
  return files;
}

}  // namespace heapprof::cli
