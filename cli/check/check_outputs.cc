// cli/check/check_outputs.cc: a check that has run for an hour must not fail because its report cannot be written.
//
// So every output is opened before the first program starts. Names are compared as the file system sees them. If two
// flags named one file, one of the two reports would be lost; if an output were also an input, the input would be
// destroyed. A device (/dev/stdout) may be named twice.
//
// Only GitHub's step summary is appended to and not replaced: other commands of the step write to it too.
#include "cli/check/check_outputs.h"

#include "cli/base/atomic_file.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/trusted_output.h"
#include "cli/write/check/formats.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

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

// Appends to a step's summary, which belongs to all of the step's commands.
Result<Done> append(const std::string& path, std::string_view text) {
  const Result<UniqueFd> opened = open_output(path, O_WRONLY | O_APPEND, 0644);
  if (!opened) return opened.problem();
  if (!opened->is_open()) return output_not_writable(path, errno_text(errno));
  if (const int error = write_fully(opened->get(), text); error != 0) return disk_full(path, errno_text(error));
  return Done{};
}

using NamedFiles = std::vector<std::pair<std::string, std::string>>;  // each with the flag that names it

NamedFiles read_files(const CheckOptions& options) {
  NamedFiles files = {{"--budget", options.budget}, {"--contracts", options.contracts}};
  const bool is_written_too = options.update_baseline || options.baseline.ends_with(".jsonl");
  if (!is_written_too) files.emplace_back("--baseline", options.baseline);
  for (const std::string& file : options.suppressions.files) files.emplace_back("--suppressions", file);
  for (const std::string& file : options.profiles) files.emplace_back("FILE", file);
  if (!options.program.empty() && options.program[0].find('/') != std::string::npos)
    files.emplace_back("the program", options.program[0]);
  std::erase_if(files, [](const auto& file) { return file.second.empty(); });
  return files;
}

NamedFiles written_files(const CheckOptions& options) {
  NamedFiles files;
  for (size_t i = 0; i < options.outputs.size(); ++i) files.emplace_back(check_formats()[i].flag, options.outputs[i]);
  files.emplace_back("-o", options.output);
  files.emplace_back("--history", options.history);
  std::erase_if(files, [](const auto& file) { return file.second.empty(); });
  return files;
}

bool is_device(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

// One name for a file, however the user spelt it; also for a file that does not exist yet.
std::filesystem::path real_path(const std::string& path) {
  std::error_code error;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
}

Result<Done> check_names(const CheckOptions& options) {
  std::map<std::filesystem::path, std::string> flags;
  for (const auto& [flag, path] : read_files(options)) flags.emplace(real_path(path), flag);  // some may be read twice
  for (const auto& [flag, path] : written_files(options)) {
    if (is_device(path)) continue;
    const auto [known, is_new] = flags.emplace(real_path(path), flag);
    if (!is_new) return outputs_to_one_file(known->second, flag, path);
  }
  return Done{};
}

}  // namespace

Result<Done> try_outputs(const CheckOptions& options) {
  if (const Result<Done> apart = check_names(options); !apart) return apart.problem();
  std::vector<std::string> paths = options.outputs;
  paths.push_back(options.output);
  for (const std::string& path : paths) {
    if (path.empty() || is_device(path)) continue;
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

bool write_outputs(const CheckReport& report, const CheckOptions& options) {
  const Terminal terminal = inspect_terminal(STDOUT_FILENO, options.color);
  bool all_written = print_output(render_check_text(report, terminal, options.quiet)) == 0;
  const auto note = [&](const auto& result) {
    if (!result) print_problem(result.problem(), options.color);
    all_written = all_written && result.ok();
  };
  // The step's summary belongs to the whole step: it is appended to, and only once.
  const std::string step = variable("GITHUB_STEP_SUMMARY");
  bool adds_to_step = false;
  if (wants_annotations(options)) {
    all_written = print_output(render_check_annotations(report)) == 0 && all_written;
    adds_to_step = !step.empty();
  }
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    if (options.outputs[i].empty()) continue;
    if (check_formats()[i].write == write_check_markdown && !step.empty() &&
        real_path(options.outputs[i]) == real_path(step)) {
      adds_to_step = true;
      continue;
    }
    Result<AtomicFile> file = AtomicFile::create(options.outputs[i]);
    note(file);
    if (!file) continue;
    check_formats()[i].write(report, &*file);
    note(file->commit());
  }
  if (adds_to_step) {
    StringSink summary;
    write_check_markdown(report, &summary);
    note(append(step, summary.text()));
  }
  return all_written;
}

std::string folder_in_project() {
  std::error_code error;
  const std::string below = std::filesystem::current_path(error).lexically_relative(project_folder()).string();
  return error || below.empty() || below == "." ? "" : below + "/";
}

std::string project_folder() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error) return "";
  for (std::filesystem::path folder = here; !folder.empty(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / ".git", error)) return folder.string();
    if (folder == folder.root_path()) break;
  }
  for (const char* name : {"GITHUB_WORKSPACE", "CI_PROJECT_DIR"}) {  // of GitHub and GitLab
    const std::string top = real_path(variable(name));
    if (!top.empty() && (here.string() + "/").starts_with(top + "/")) return top;
  }
  return here.string();
}

}  // namespace heapprof::cli
