// cli/base/trusted_output.cc: walks the path as the kernel does, because any part of it may be a link.
//
// A checked path may change a moment later. So if the last part is not a pipe or a device, it is opened with
// O_NOFOLLOW: a link that has replaced it is not followed. If a folder before it is replaced after the check, only the
// kernel's own settings protect.
#include "cli/base/trusted_output.h"

#include "cli/base/problems.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr int kMostLinks = 40;  // as the kernel

std::string user_text(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry != nullptr ? entry->pw_name : fmt::format("#{}", user);
}

std::string read_link(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  return length < 0 ? std::string() : std::string(target, static_cast<size_t>(length));
}

// True if only heapprof's user, or the folder's owner, can have created it.
bool is_trusted(const std::string& folder, const struct stat& found) {
  struct stat facts {};
  if (::stat(folder.empty() ? "." : folder.c_str(), &facts) != 0) return true;  // then no file in it can be opened
  if ((facts.st_mode & S_ISVTX) == 0 || (facts.st_mode & S_IWOTH) == 0) return true;
  return found.st_uid == ::geteuid() || found.st_uid == facts.st_uid;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

Problem refused(const std::string& path, const std::string& found, const char* kind, uid_t owner) {
  return output_not_trusted(path, fmt::format("{} is {} of user {}", found, kind, user_text(owner)));
}

}  // namespace

std::string follow_links(std::string path) {
  for (int depth = 0; depth < kMostLinks; ++depth) {
    const std::string link = read_link(path);
    if (link.empty()) break;
    path = link.starts_with('/') ? link : folder_of(path).append(link);
  }
  return path;
}

Result<Done> check_output(const std::string& path, WrittenHow how) {
  std::string walked;  // has no link in it, and ends with a slash if it is not empty
  std::string rest = path;
  for (int links = 0; !rest.empty() && links < kMostLinks;) {
    const size_t slash = rest.find('/');
    const std::string part = rest.substr(0, slash);
    rest = slash == std::string::npos ? "" : rest.substr(slash + 1);
    if (part.empty()) {
      if (walked.empty()) walked.push_back('/');
      continue;
    }
    const std::string at = walked + part;
    struct stat facts {};
    if (::lstat(at.c_str(), &facts) != 0) return Done{};
    const bool is_link = S_ISLNK(facts.st_mode);
    const bool is_opened =
        rest.empty() && how == WrittenHow::kOpened && (S_ISREG(facts.st_mode) || S_ISFIFO(facts.st_mode));
    if ((is_link || is_opened) && !is_trusted(walked, facts)) {
      const char* kind = is_link ? "a symbolic link" : S_ISFIFO(facts.st_mode) ? "a pipe" : "a file";
      return refused(path, at, kind, facts.st_uid);
    }
    if (!is_link) {
      walked.append(part).push_back('/');
      continue;
    }
    ++links;
    std::string target = read_link(at);
    if (target.empty()) return Done{};
    if (target.starts_with('/')) walked.clear();
    if (!rest.empty()) target.append(1, '/').append(rest);
    rest = std::move(target);
  }
  return Done{};
}

Result<UniqueFd> open_output(const std::string& path, int flags, mode_t mode) {
  if (const Result<Done> checked = check_output(path, WrittenHow::kOpened); !checked) return checked.problem();
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))  // /dev/stdout may refer to an unnamed file
    return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY));
  return UniqueFd(::open(follow_links(path).c_str(), flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, mode));
}

}  // namespace heapprof::cli
