// cli/run/profile_writing.cc: to write a large profile takes as long as to make its summary. Making the summary changes
// only those parts of the profile that are not written to the file. So two threads can do both at once.
#include "cli/run/profile_writing.h"

#include "cli/base/atomic_file.h"
#include "cli/base/problems.h"
#include "cli/collect/memory/memory_budget.h"
#include "cli/write/profile/dhat.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <future>
#include <system_error>

namespace heapprof::cli {

Result<Done> try_output(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
    // A pipe is not opened: when it is closed again, its reader would believe that the profile has ended.
    if (access(path.c_str(), W_OK) != 0) return output_not_writable(path, errno_text(errno));
    return Done{};
  }
  const Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) return file.problem();
  return Done{};
}

Result<std::string> write_profile(const Profile& profile, const std::string& path, bool may_overwrite) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) return file.problem();
  write_dhat(profile, &*file);
  return may_overwrite ? file->commit() : file->commit_without_overwriting();
}

Result<std::string> write_profile(const Profile& profile, const std::string& path, bool may_overwrite,
                                  const std::string& spare_name, std::optional<Problem>* elsewhere) {
  Result<std::string> written = write_profile(profile, path, may_overwrite);
  struct stat facts {};
  const bool is_device = stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);  // such as a pipe or /dev/full
  if (written || spare_name.empty() || is_device) return written;
  std::error_code error;
  for (const std::filesystem::path& folder :
       {std::filesystem::temp_directory_path(error), std::filesystem::path("/dev/shm")}) {
    if (folder.empty()) continue;
    const Result<std::string> spare = write_profile(profile, (folder / spare_name).string(), false);
    if (!spare) continue;
    elsewhere->emplace(written.problem());
    return *spare;
  }
  return written;
}

Result<std::string> write_beside(const std::function<Result<std::string>()>& write,
                                 const std::function<void()>& other) {
  std::future<Result<std::string>> written;
  try {
    if (!is_memory_limited()) written = std::async(std::launch::async, write);
  } catch (const std::system_error&) {  // no thread can be started
  }
  if (written.valid()) {
    other();  // if it throws, ~future() waits for the thread
    return written.get();
  }
  Result<std::string> result = write();
  other();
  return result;
}

}  // namespace heapprof::cli
