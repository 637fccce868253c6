// cli/read/source_file.cc: a source may have changed since it was compiled, or another file may have its name. Neither
// can be proved, so the remarks state the evidence.
#include "cli/read/source_file.h"

#include "cli/base/fd.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/model/analysis/python/paths.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace heapprof::cli {
namespace {

// Tries the path unchanged, and then without each of its leading folders.
UniqueFd open_source(const std::string& path, std::string* opened, int* error) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  UniqueFd file(open(path.c_str(), kFlags));
  *error = errno;
  *opened = path;
  if (("/" + path + "/").find("/../") != std::string::npos) return file;  // an end of the path could leave the folder
  for (size_t at = path.find('/'); !file.is_open() && at != std::string::npos; at = path.find('/', at + 1)) {
    *opened = path.substr(at + 1);
    if (!opened->empty() && (*opened)[0] != '/') file = UniqueFd(open(opened->c_str(), kFlags));
  }
  return file;
}

// Returns why the file cannot be read; empty: *text has the whole file.
std::string read_text(const UniqueFd& file, int open_error, struct stat* facts, std::string* text) {
  if (!file.is_open()) return errno_text(open_error);
  if (fstat(file.get(), facts) != 0) return errno_text(errno);
  if (!S_ISREG(facts->st_mode)) return "it is no regular file";
  if (static_cast<size_t>(facts->st_size) > kMostSourceBytes) return "it is larger than 16 MiB";
  text->resize(static_cast<size_t>(facts->st_size));
  size_t length = 0;
  while (length < text->size()) {
    const ssize_t got = read(file.get(), text->data() + length, text->size() - length);
    if (got < 0) return errno_text(errno);
    if (got == 0) break;
    length += static_cast<size_t>(got);
  }
  text->resize(length);
  return "";
}

int64_t modified_ns(const struct stat& facts) {
  return int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

// When the frame's program or library file was last modified; 0: unknown.
int64_t built_ns(const Profile& profile, const Frame& frame) {
  struct stat facts {};
  const bool has_file = frame.module < profile.modules.size() && !is_of_python(profile, frame);
  return has_file && stat(profile.modules[frame.module].path.c_str(), &facts) == 0 ? modified_ns(facts) : 0;
}

}  // namespace

SourceFile read_source_file(const Profile& profile, const SourceLines& source) {
  SourceFile found;
  std::string path;
  int error = 0;
  const UniqueFd file = open_source(source.file, &path, &error);
  struct stat facts {};
  if (const std::string obstacle = read_text(file, error, &facts, &found.text); !obstacle.empty()) {
    found.text.clear();
    found.remarks = fmt::format("it cannot be read here: {}\n", obstacle);
    return found;
  }
  if (path != source.file)
    found.remarks =
        fmt::format("read from {}, as {} is not here\n", escape_controls(path), escape_controls(source.file));
  const auto& [last_line, last] = *source.lines.rbegin();
  const int64_t start_ns = profile.run.start_unix_ns;
  const int64_t program_ns = built_ns(profile, profile.frames[last.frame]);
  if (start_ns != 0 && modified_ns(facts) > start_ns) {
    found.remarks += "it is newer than the run: lines may have moved\n";
  } else if (program_ns != 0 && program_ns < start_ns && modified_ns(facts) > program_ns) {
    found.remarks += "it is newer than the program: lines may have moved\n";
  } else if (last_line > static_cast<size_t>(std::count(found.text.begin(), found.text.end(), '\n')) + 1) {
    found.remarks += fmt::format("it has fewer than {} lines: it is another one, or was changed\n", last_line);
  }
  return found;
}

}  // namespace heapprof::cli
