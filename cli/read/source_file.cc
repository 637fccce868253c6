// cli/read/source_file.cc: see source_file.h.
#include "cli/read/source_file.h"

#include "cli/base/fd.h"
#include "cli/base/problems.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace heapprof::cli {
namespace {

// As it is, and then without each of its leading folders.
UniqueFd open_source(const std::string& path, std::string* opened, int* error) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  UniqueFd file(open(path.c_str(), kFlags));
  *error = errno;
  *opened = path;
  if (("/" + path + "/").find("/../") != std::string::npos) return file;  // an end could lead out of the folder
  for (size_t at = path.find('/'); !file.is_open() && at != std::string::npos; at = path.find('/', at + 1)) {
    *opened = path.substr(at + 1);
    if (!opened->empty() && (*opened)[0] != '/') file = UniqueFd(open(opened->c_str(), kFlags));
  }
  return file;
}

}  // namespace

SourceFile read_source_file(const std::string& path) {
  SourceFile source;
  int error = 0;
  const UniqueFd file = open_source(path, &source.path, &error);
  struct stat facts {};
  if (!file.is_open() || fstat(file.get(), &facts) != 0) {
    source.obstacle = errno_text(error);
    return source;
  }
  if (!S_ISREG(facts.st_mode)) source.obstacle = "it is no regular file";
  if (static_cast<size_t>(facts.st_size) > kMostSourceBytes) source.obstacle = "it is larger than 64 MiB";
  if (!source.obstacle.empty()) return source;
  source.modified_unix_ns = int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
  std::string text(static_cast<size_t>(facts.st_size), '\0');
  size_t length = 0;
  for (ssize_t got = 1; got > 0 && length < text.size(); length += static_cast<size_t>(got)) {
    got = read(file.get(), text.data() + length, text.size() - length);
    if (got < 0) source.obstacle = errno_text(errno);
    if (got < 0) return source;
  }
  text.resize(length);
  source.text = std::move(text);
  return source;
}

}  // namespace heapprof::cli
