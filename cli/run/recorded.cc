// cli/run/recorded.cc: see recorded.h.
#include "cli/run/recorded.h"

#include "cli/base/atomic_file.h"
#include "cli/base/problems.h"
#include "cli/model/verdict.h"
#include "cli/read/read_profile.h"
#include "cli/run/contract_run.h"
#include "cli/run/run.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr int kNotProfiled = 125;

size_t count_files(const std::string& folder) {
  std::error_code error;
  size_t files = 0;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    ++files;
  return files;
}

}  // namespace

Result<ScratchFolder> ScratchFolder::make() {
  const char* base = getenv("TMPDIR");
  std::string path = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/heapprof-check.XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return output_not_writable(path, errno_text(errno));
  return ScratchFolder(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

Result<Done> copy_profile(const std::string& from, const std::string& to) {
  std::FILE* const source = std::fopen(from.c_str(), "rbe");
  if (source == nullptr) return profile_not_readable(from, errno_text(errno));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> closer(source, std::fclose);
  Result<AtomicFile> target = AtomicFile::create(to);
  if (!target) return target.problem();
  std::vector<char> buffer(64 << 10);
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), source)) target->write({buffer.data(), got});
  if (std::ferror(source) != 0) return profile_not_readable(from, "the end of it is missing");
  const Result<std::string> written = target->commit();
  if (!written) return written.problem();
  return Done{};
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

Result<Recorded> record(const Budget& budget, const std::string& folder, ColorMode color) {
  Recorded recorded;
  for (uint64_t run = 1; run <= budget.runs.value_or(1); ++run) {
    RunOptions options;
    options.quiet = true;
    options.color = color;
    options.program = budget.command;
    const std::string file = fmt::format("{}/run{}.json", folder, run);
    for (const char c : file) options.output += c == '%' ? "%%" : std::string(1, c);  // no directives
    const size_t files_before = count_files(folder);
    const int code = run_command(options);
    if (access(file.c_str(), F_OK) != 0) return checked_without_profile(budget.command[0]);
    Result<Profile> profile = read_profile(file);
    if (!profile) return profile.problem();
    recorded.others = std::max(recorded.others, count_files(folder) - files_before - 1);
    // What heapprof says of itself: it was not able to see the program.
    const RunEnd& end = profile->run.end;
    if (code == kNotProfiled && (end.kind != EndKind::kExited || end.status != kNotProfiled)) {
      profile->run.complete = false;
      profile->run.incomplete_reason = "heapprof could not profile it";
    }
    recorded.files.push_back(file);
    recorded.runs.push_back(std::move(*profile));
    if (state_for(budget, recorded.runs.back()).trouble != Trouble::kNone) break;
  }
  return recorded;
}

}  // namespace heapprof::cli
