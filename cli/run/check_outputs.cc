// cli/run/check_outputs.cc: see check_outputs.h.
#include "cli/run/check_outputs.h"

#include "cli/base/atomic_file.h"
#include "cli/base/fd.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>

namespace heapprof::cli {
namespace {

std::string variable(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

bool wants_annotations(const CheckOptions& options) {
  if (options.annotations == Annotations::kAuto) return variable("GITHUB_ACTIONS") == "true";
  return options.annotations == Annotations::kGithub;
}

// A step's summary belongs to all of its commands: it is added to.
Result<Done> append(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644));
  if (!fd.is_open()) return output_not_writable(path, errno_text(errno));
  if (const int error = write_fully(fd.get(), text); error != 0) return disk_full(path, errno_text(error));
  return Done{};
}

}  // namespace

Result<Done> try_outputs(const CheckOptions& options) {
  std::vector<std::string> paths = options.outputs;
  paths.push_back(options.output);
  for (const std::string& path : paths) {
    struct stat facts {};
    if (path.empty() || (stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)))
      continue;
    const Result<AtomicFile> file = AtomicFile::create(path);
    if (!file) return file.problem();
  }
  if (std::error_code error; std::filesystem::is_directory(options.history, error))
    return history_not_writable(options.history, errno_text(EISDIR));
  if (options.history.empty() || access(options.history.c_str(), W_OK) == 0) return Done{};
  const int error = errno;
  const std::string folder = std::filesystem::path(options.history).parent_path().string();
  if (error == ENOENT && access(folder.empty() ? "." : folder.c_str(), W_OK) == 0) return Done{};
  return history_not_writable(options.history, errno_text(errno));
}

Result<int> write_outputs(const CheckReport& report, const CheckOptions& options) {
  int failed = print_output(render_check_text(report, inspect_terminal(STDOUT_FILENO, options.color), options.quiet));
  if (wants_annotations(options)) {
    failed |= print_output(render_check_annotations(report));
    if (const std::string path = variable("GITHUB_STEP_SUMMARY"); !path.empty()) {
      StringSink summary;
      write_check_markdown(report, &summary);
      if (const Result<Done> added = append(path, summary.text()); !added) return added.problem();
    }
  }
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    if (options.outputs[i].empty()) continue;
    Result<AtomicFile> file = AtomicFile::create(options.outputs[i]);
    if (!file) return file.problem();
    check_forms()[i].write(report, &*file);
    if (const Result<std::string> written = file->commit(); !written) return written.problem();
  }
  return failed;
}

std::string project_folder() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error) return "";
  for (std::filesystem::path folder = here; !folder.empty(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / ".git", error)) return folder.string();
    if (folder == folder.root_path()) break;
  }
  return here.string();
}

}  // namespace heapprof::cli
