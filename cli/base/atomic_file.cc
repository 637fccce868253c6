// cli/base/atomic_file.cc: writes a temporary file next to the destination (rename() works only inside one file
// system), then renames it. If no file may be overwritten, it uses link(), which fails if the name exists and works on
// every file system with hard links; without them (vfat, some FUSE), renameat2(RENAME_NOREPLACE) does the same.
#include "cli/base/atomic_file.h"

#include "cli/base/problems.h"
#include "cli/base/trusted_output.h"
#include "cli/base/wait_for_others.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace heapprof::cli {
namespace {

constexpr size_t kBufferBytes = 256 << 10;
constexpr int kMostNames = 10000;
constexpr int kLookForReaderMs = 20;

// Opens a device at once, and a pipe as soon as it has a reader. A signal during that wait ends the process.
UniqueFd open_without_waiting(const std::string& path, bool is_pipe) {
  for (;;) {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (fd.is_open() || !is_pipe || errno != ENXIO) return fd;
    wait_for_others(-1, kLookForReaderMs);
  }
}

std::string numbered(const std::string& path, int number) {
  if (number == 1) return path;
  const size_t slash = path.rfind('/');
  const size_t dot = path.rfind('.');
  const bool has_extension = dot != std::string::npos && dot > (slash == std::string::npos ? 0 : slash + 1);
  const size_t at = has_extension ? dot : path.size();
  return path.substr(0, at) + "." + std::to_string(number) + path.substr(at);
}

int link_new(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return ::unlink(from.c_str()) == 0 ? 0 : errno;
  if (errno == EEXIST) return EEXIST;
  return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
}

// If a path refers to a descriptor of this process (/dev/stdout, /dev/fd/3), returns a duplicate of that descriptor.
// The duplicate shares the file offset, so other writers continue after our data. If a new file replaced the old one,
// the data of other writers would go to a file without a name.
UniqueFd own_descriptor(const std::string& path, const struct stat& status) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  std::filesystem::path at = path;
  for (int links = 0; links < kMostLinks; ++links) {
    const std::filesystem::path folder = at.has_parent_path() ? at.parent_path() : ".";
    struct statfs facts {};
    struct stat own {};
    int number = -1;
    const std::string name = at.filename();
    const bool is_number =
        std::from_chars(name.data(), name.data() + name.size(), number).ptr == name.data() + name.size();
    if (is_number && ::statfs(folder.c_str(), &facts) == 0 && facts.f_type == PROC_SUPER_MAGIC)
      return (::fcntl(number, F_GETFL) & O_ACCMODE) != O_RDONLY && ::fstat(number, &own) == 0 &&
                     own.st_dev == status.st_dev && own.st_ino == status.st_ino
                 ? UniqueFd(::fcntl(number, F_DUPFD_CLOEXEC, 0))
                 : UniqueFd();
    const std::filesystem::path target = std::filesystem::read_symlink(at, error);
    if (error) return UniqueFd();
    at = target.is_absolute() ? target : folder / target;
  }
  return UniqueFd();
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return output_is_directory(path);
  if (exists && S_ISREG(status.st_mode)) {
    if (UniqueFd own = own_descriptor(path, status); own.is_open()) return AtomicFile(std::move(own), path, path, "");
  }
  const bool is_opened = exists && !S_ISREG(status.st_mode);
  const WrittenHow how = is_opened ? WrittenHow::kOpened : WrittenHow::kReplaced;
  if (const Result<Done> checked = check_output(path, how); !checked) return checked.problem();
  if (is_opened) {
    UniqueFd fd = open_without_waiting(path, S_ISFIFO(status.st_mode));
    if (!fd.is_open()) return output_not_writable(path, errno_text(errno));
    return AtomicFile(std::move(fd), path, path, "");
  }
  const std::string target = follow_links(path);
  if (exists && ::access(target.c_str(), W_OK) != 0) return output_not_writable(path, errno_text(errno));

  const size_t slash = target.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : target.substr(0, slash + 1);
  // A long name leaves no room for the suffix (NAME_MAX is 255); the temporary name does not need all of it.
  std::string name = target.substr(folder.size());
  if (name.empty()) return output_is_directory(path);
  if (name.size() > NAME_MAX) return output_not_writable(path, errno_text(ENAMETOOLONG));
  name.resize(std::min<size_t>(name.size(), NAME_MAX - 16));
  const std::string hidden = folder + "." + name + ".";
  std::string temporary = hidden + "XXXXXX";
  if (::access("/proc/self/fd", X_OK) == 0) {  // needed to name the file later
    UniqueFd nameless(::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    if (nameless.is_open()) {
      AtomicFile file(std::move(nameless), path, target, "");
      file.template_ = hidden + std::to_string(::getpid()) + ".";
      return file;
    }
  }
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.is_open()) return output_not_writable(path, errno_text(errno));
  return AtomicFile(std::move(fd), path, target, std::move(temporary));
}

AtomicFile::AtomicFile(UniqueFd fd, std::string path, std::string target, std::string temporary)
    : fd_(std::move(fd)), path_(std::move(path)), target_(std::move(target)), temporary_(std::move(temporary)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, "")),
      template_(std::exchange(other.template_, "")),
      buffer_(std::move(other.buffer_)),
      error_(other.error_) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

std::string AtomicFile::free_name(const std::string& path) {
  int number = 1;
  while (number < kMostNames && ::access(numbered(path, number).c_str(), F_OK) == 0) ++number;
  return numbered(path, number);
}

std::string AtomicFile::rename_to_free_name(const std::string& from, const std::string& path) {
  int error = EEXIST;
  for (int number = 1; number <= kMostNames && error == EEXIST; ++number) {
    const std::string name = numbered(path, number);
    error = link_new(from, name);
    if (error == 0) return name;
  }
  return "";
}

void AtomicFile::write(std::string_view bytes) {
  if (error_ != 0) return;
  buffer_.append(bytes);
  if (buffer_.size() >= kBufferBytes) flush();
}

int AtomicFile::flush() {
  if (error_ == 0) error_ = write_fully(fd_.get(), buffer_);
  buffer_.clear();
  return error_;
}

void AtomicFile::keep_owner_and_mode() {
  struct stat facts {};
  if (temporary_.empty() && template_.empty()) return;
  if (::stat(target_.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  constexpr mode_t kAccess = 0666;
  if ((facts.st_uid != ::geteuid() || facts.st_gid != ::getegid()) &&
      ::fchown(fd_.get(), facts.st_uid, facts.st_gid) != 0 && facts.st_gid != ::getegid())
    return;  // else the wrong group could read it
  (void)::fchmod(fd_.get(), facts.st_mode & kAccess);
}

// close() reports errors that the kernel detects late: an exceeded quota, or a full disk on an NFS server.
Result<std::string> AtomicFile::give_up(int error) {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) return disk_full(path_, errno_text(error));
  return output_not_writable(path_, errno_text(error));
}

// Gives an unnamed file the name of a temporary file. Returns 0 or errno.
int AtomicFile::give_name() {
  if (template_.empty()) return 0;
  const std::string from = "/proc/self/fd/" + std::to_string(fd_.get());
  for (int number = 1; number <= kMostNames; ++number) {
    const std::string name = template_ + std::to_string(number);
    if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
      template_.clear();
      return 0;
    }
    if (errno != EEXIST) return errno;
  }
  return EEXIST;
}

Result<std::string> AtomicFile::commit() {
  if (flush() != 0) return give_up(error_);
  if (const int error = give_name(); error != 0) return give_up(error);
  if (::close(fd_.release()) != 0) return give_up(errno);
  if (temporary_.empty()) return path_;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return give_up(errno);
  temporary_.clear();
  return path_;
}

Result<std::string> AtomicFile::commit_without_overwriting() {
  if (temporary_.empty() && template_.empty()) return commit();
  if (flush() != 0) return give_up(error_);
  if (const int error = give_name(); error != 0) return give_up(error);
  if (::close(fd_.release()) != 0) return give_up(errno);
  int error = EEXIST;
  for (int number = 1; number <= kMostNames && error == EEXIST; ++number) {
    // Numbered names are next to the path that the user gave, not next to a link's target.
    const std::string name = numbered(number == 1 ? target_ : path_, number);
    error = link_new(temporary_, name);
    if (error == 0) {
      temporary_.clear();
      return number == 1 ? path_ : name;
    }
  }
  return give_up(error);
}

}  // namespace heapprof::cli
