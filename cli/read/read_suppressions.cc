// cli/read/read_suppressions.cc: see read_suppressions.h.
#include "cli/read/read_suppressions.h"

#include "cli/base/fd.h"
#include "cli/base/problems.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace heapprof::cli {

Result<Done> read_suppressions(const std::string& path, ReportRules* rules) {
  constexpr size_t kMostBytes = 1 << 20;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd.is_open()) return suppressions_not_readable(path, errno_text(errno));
  std::string text;
  std::array<char, 16 << 10> buffer;
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return suppressions_not_readable(path, errno_text(errno));
    if (got == 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kMostBytes) return suppressions_not_readable(path, "it is larger than 1 MiB");
  }
  return parse_suppressions(text, path, &rules->suppressions, &rules->folds.patterns);
}

Result<ReportRules> load_rules(const SuppressionOptions& options) {
  ReportRules rules;
  rules.folds.all_frames = options.all_frames;
  rules.folds.libraries = options.libraries;
  for (const std::string& glob : options.folds) rules.folds.patterns.push_back({glob, "", ""});
  rules.folds.from_flags = rules.folds.patterns.size();
  const auto add_code = [&rules](const std::string& glob, CodeOwner owner) {
    rules.folds.code.push_back({{"", "", glob}, owner});
    rules.folds.code.push_back({{"", glob, ""}, owner});
  };
  for (const std::string& glob : options.user_code) add_code(glob, CodeOwner::kUser);
  for (const std::string& glob : options.library_code) add_code(glob, CodeOwner::kLibrary);
  for (const std::string& file : options.files) {
    if (const Result<Done> read = read_suppressions(file, &rules); !read) return read.problem();
  }
  if (!options.no_defaults) add_default_suppressions(&rules.suppressions);
  return rules;
}

}  // namespace heapprof::cli
