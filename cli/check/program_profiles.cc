// cli/check/program_profiles.cc: profiles go to a separate folder, as runN.json and, for started processes,
// runN.PID.json.
#include "cli/check/program_profiles.h"

#include "cli/base/problems.h"
#include "cli/check/contract_run.h"
#include "cli/read/read_profile.h"
#include "cli/run/run.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr int kNotProfiled = 125;

std::vector<std::string> files_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    files.push_back(entry->path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

bool is_of_run(const std::string& file, uint64_t run) { return file.starts_with(fmt::format("run{}.", run)); }
bool is_replaced(const std::string& file) { return file.find(".exec") != std::string::npos; }

// Counts the profiles of run `run` besides the program's own.
Unjudged count_others(const std::string& folder, uint64_t run) {
  Unjudged others;
  for (const std::string& file : files_in(folder)) {
    if (!is_of_run(file, run) || file == fmt::format("run{}.json", run)) continue;
    ++(is_replaced(file) ? others.replaced : others.processes);
  }
  return others;
}

}  // namespace

Unjudged count_unprofiled(const Profile& profile) {
  Unjudged unprofiled;
  for (const UnprofiledProgram& program : profile.run.coverage.unprofiled_programs)
    (program.replaced_process ? unprofiled.replaced : unprofiled.processes) += program.count;
  unprofiled.processes += profile.run.counters.never_profiled;
  return unprofiled;
}

Result<ScratchFolder> ScratchFolder::make() {
  const char* base = getenv("TMPDIR");
  std::string path = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/heapprof-check.XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return output_not_writable(path, errno_text(errno));
  return ScratchFolder(path);
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

Result<ProgramProfiles> profile_program(const Budget& budget, const Inherited& inherited, const std::string& folder,
                                        ColorMode color) {
  ProgramProfiles measured;
  for (uint64_t run = 1; run <= budget.runs.value_or(1); ++run) {
    RunOptions options;
    options.quiet = true;
    options.goes_on = true;
    options.all_processes = true;
    options.color = color;
    options.program = budget.command;
    const std::string file = fmt::format("{}/run{}.json", folder, run);
    for (const char c : file) options.output += c == '%' ? "%%" : std::string(1, c);  // so that % begins no directive
    const int code = run_command(options, inherited);
    if (access(file.c_str(), F_OK) != 0) return checked_without_profile(budget.command[0]);
    Result<Profile> profile = read_profile(file);
    if (!profile) return profile.problem();
    const Unjudged others = count_others(folder, run);
    const Unjudged unseen = count_unprofiled(*profile);
    measured.unjudged.processes = std::max(measured.unjudged.processes, others.processes + unseen.processes);
    measured.unjudged.replaced = std::max(measured.unjudged.replaced, others.replaced + unseen.replaced);
    // This exit code is heapprof's own, not the program's: heapprof could not profile the program.
    const RunEnd end = profile->run.end;
    if (code == kNotProfiled && (end.kind != EndKind::kExited || end.status != kNotProfiled)) {
      profile->run.complete = false;
      profile->run.incomplete_reason = "heapprof could not profile it";
    }
    measured.files.push_back(file);
    measured.runs.push_back(std::move(*profile));
    if (state_for(budget, measured.runs.back(), false).trouble != Trouble::kNone || !ended_as_claimed(budget, end))
      break;
  }
  return measured;
}

Result<std::vector<StartedProcess>> find_started(
    const std::string& folder, const std::function<Result<Done>(const Profile&, const std::string&)>& look) {
  const std::vector<std::string> files = files_in(folder);
  std::map<std::pair<std::vector<std::string>, size_t>, std::vector<std::string>> found;  // by command and number
  for (uint64_t run = 1; std::count(files.begin(), files.end(), fmt::format("run{}.json", run)) > 0; ++run) {
    std::vector<std::pair<int64_t, std::pair<std::vector<std::string>, std::string>>> started;  // by time
    for (const std::string& file : files) {
      if (!is_of_run(file, run) || file == fmt::format("run{}.json", run) || is_replaced(file)) continue;
      const std::string path = folder + "/" + file;
      const Result<Profile> profile = read_profile(path);
      if (!profile) return profile.problem();
      if (const Result<Done> looked = look(*profile, path); !looked) return looked.problem();
      started.push_back({profile->run.start_unix_ns, {profile->run.command, path}});
    }
    std::sort(started.begin(), started.end());
    std::map<std::vector<std::string>, size_t> numbers;
    for (const auto& [time, process] : started) {
      const auto& [command, path] = process;
      found[{command, numbers[command]++}].push_back(path);
    }
  }
  std::vector<StartedProcess> processes;
  for (const auto& [key, paths] : found) processes.push_back({key.first, paths});
  return processes;
}

Result<ProgramProfiles> read_started(const StartedProcess& process) {
  ProgramProfiles measured;
  for (const std::string& file : process.files) {
    Result<Profile> profile = read_profile(file);
    if (!profile) return profile.problem();
    measured.files.push_back(file);
    measured.runs.push_back(std::move(*profile));
  }
  return measured;
}

size_t representative(const std::vector<Profile>& runs) {
  std::vector<uint64_t> peaks;
  for (const Profile& run : runs) peaks.push_back(run.devices.empty() ? 0 : run.devices[0].totals.peak_bytes);
  const uint64_t middle = median(peaks);
  const auto distance = [&](uint64_t peak) { return std::max(peak, middle) - std::min(peak, middle); };
  const auto nearest =
      std::min_element(peaks.begin(), peaks.end(), [&](uint64_t a, uint64_t b) { return distance(a) < distance(b); });
  return static_cast<size_t>(nearest - peaks.begin());
}

}  // namespace heapprof::cli
