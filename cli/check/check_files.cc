// cli/check/check_files.cc: files that the user keeps under version control are replaced completely, or left unchanged.
//
// People may edit a budget while a check runs. So the text with the raised limits is parsed before it is written, and
// the file is read again. If the file has changed since the check began, it is not written, and a message says so.
#include "cli/base/atomic_file.h"
#include "cli/base/problems.h"
#include "cli/check/check_outputs.h"
#include "cli/model/judge/budget_update.h"
#include "cli/read/read_budget.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

namespace heapprof::cli {

Result<Done> copy_file(const std::string& from, const std::string& to) {
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

Result<Done> replace_baseline(const std::string& profile, const std::string& baseline) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(baseline).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);  // copying reports the error
  if (std::filesystem::equivalent(profile, baseline, error)) return Done{};
  return copy_file(profile, baseline);
}

Result<size_t> update_budget_file(const BudgetFile& file, std::vector<Verdict>* verdicts) {
  std::vector<Verdict> anew = *verdicts;
  const RaisedLimits raised = raise_limits(file.text, &anew);
  if (raised.count == 0) return size_t{0};
  if (const Result<BudgetFile> reads_back = parse_budget(raised.text, file.path); !reads_back)
    return budget_not_updated(file.path, "its limits are written in a way that cannot be changed here");
  const Result<BudgetFile> now = read_budget(file.path);
  if (!now || now->text != file.text) return budget_not_updated(file.path, "it changed during the run");
  struct stat facts {};
  const bool has_mode = stat(file.path.c_str(), &facts) == 0;
  Result<AtomicFile> target = AtomicFile::create(file.path);
  if (!target) return target.problem();
  target->write(raised.text);
  const Result<std::string> written = target->commit();
  if (!written) return written.problem();
  if (has_mode && chmod(file.path.c_str(), facts.st_mode & 07777) != 0)
    return budget_not_updated(file.path, errno_text(errno));
  *verdicts = std::move(anew);
  return raised.count;
}

}  // namespace heapprof::cli
