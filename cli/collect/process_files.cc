// cli/collect/process_files.cc: every path starts at a descriptor that was opened when the process certainly existed.
//
// A process id may belong to another process a moment later. A path in the target may be a trap: a symbolic link out of
// its root, a FIFO without a writer, a device. So /proc/PID is opened once, and everything else relative to it. A
// module's path is opened inside the target's root by openat2, first as a mere reference (O_PATH), which runs no driver
// and never blocks. If it is a regular file, it is then opened for reading. The collector's own root is used only for
// files that the target's root does not have.
//
// The agent numbers threads as the target sees them. If the target has its own pid namespace, these numbers differ from
// the collector's. The collector then reads both from /proc/PID/task, every 100 ms at most.
#include "cli/collect/process_files.h"

#include "cli/base/clock.h"
#include "cli/collect/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <string_view>

namespace heapprof::cli {

namespace {

constexpr size_t kKeptFiles = 128;  // descriptors left for everything else
constexpr uint64_t kMapIntervalNs = 100'000'000;

// Raises the limit because every module's file stays open until its symbols are read.
size_t raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = limit.rlim_max;
  }
  return limit.rlim_cur > 2 * kKeptFiles ? limit.rlim_cur - kKeptFiles : limit.rlim_cur / 2;
}

std::string read_small(int directory, const std::string& path) {
  UniqueFd file(::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return {};
  std::string text(4096, '\0');
  const ssize_t bytes = ::read(file.get(), text.data(), text.size());
  text.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  return text;
}

// The ids of a task from the outermost namespace to its own: "NSpid:\t123\t4".
std::string last_namespace_id(const std::string& status, size_t* count) {
  *count = 0;
  std::string last;
  size_t at = status.find("\nNSpid:");
  if (at == std::string::npos) return last;
  at += std::strlen("\nNSpid:");
  const size_t end = status.find('\n', at);
  std::string ids = status.substr(at, end == std::string::npos ? end : end - at);
  for (size_t begin = ids.find_first_not_of("\t "); begin != std::string::npos;
       begin = ids.find_first_not_of("\t ", begin)) {
    const size_t stop = std::min(ids.find_first_of("\t ", begin), ids.size());
    last = ids.substr(begin, stop - begin);
    ++*count;
    begin = stop;
  }
  return last;
}

}  // namespace

ProcessFiles::ProcessFiles(pid_t pid)
    : page_bytes_(static_cast<uint64_t>(::sysconf(_SC_PAGESIZE))), files_left_(raise_file_limit()) {
  const std::string path = "/proc/" + std::to_string(pid);
  process_ = UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!process_.is_open()) return;
  root_ = UniqueFd(::openat(process_.get(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
  executable_ = UniqueFd(::openat(process_.get(), "exe", O_PATH | O_CLOEXEC));
  statm_ = UniqueFd(::openat(process_.get(), "statm", O_RDONLY | O_CLOEXEC));
  size_t namespaces = 0;
  own_id_ = last_namespace_id(read_small(process_.get(), "status"), &namespaces);
  has_own_namespace_ = namespaces > 1;
  struct stat status {};
  if (::fstat(process_.get(), &status) == 0) user_ = status.st_uid;
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS | RESOLVE_IN_ROOT;
  tmp_ = UniqueFd(static_cast<int>(::syscall(SYS_openat2, root_.get(), "/tmp", &how, sizeof how)));
}

uint64_t ProcessFiles::resident_bytes() const {
  char text[128];
  const ssize_t bytes = statm_.is_open() ? ::pread(statm_.get(), text, sizeof text - 1, 0) : 0;
  if (bytes <= 0) return 0;
  const char* end = text + bytes;
  const auto* at = static_cast<const char*>(std::memchr(text, ' ', static_cast<size_t>(bytes)));
  uint64_t pages = 0;
  if (at != nullptr) std::from_chars(at + 1, end, pages);
  return pages * page_bytes_;
}

// Fills host_ids_: /proc/PID/task has ids of the collector's namespace, and each status file the id in the process's.
void ProcessFiles::map_threads() {
  const uint64_t now_ns = monotonic_ns();
  if (mapped_at_ns_ != 0 && now_ns - mapped_at_ns_ < kMapIntervalNs) return;
  mapped_at_ns_ = now_ns;
  host_ids_.clear();
  DIR* tasks = ::fdopendir(::openat(process_.get(), "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (tasks == nullptr) return;
  while (const dirent* task = ::readdir(tasks)) {
    uint32_t host_id = 0;
    const std::string name = task->d_name;
    if (std::from_chars(name.data(), name.data() + name.size(), host_id).ec != std::errc()) continue;
    size_t count = 0;
    const std::string own = last_namespace_id(read_small(process_.get(), "task/" + name + "/status"), &count);
    uint32_t own_id = 0;
    if (std::from_chars(own.data(), own.data() + own.size(), own_id).ec == std::errc()) host_ids_[own_id] = host_id;
  }
  ::closedir(tasks);
}

std::string ProcessFiles::task_path(uint32_t id, const char* file) {
  if (has_own_namespace_) {
    if (host_ids_.count(id) == 0) map_threads();
    const auto at = host_ids_.find(id);
    id = at == host_ids_.end() ? 0 : at->second;
  }
  return "task/" + std::to_string(id) + file;
}

bool ProcessFiles::is_thread_gone(uint32_t id) {
  if (id == 0 || !process_.is_open() || ::faccessat(process_.get(), "task", F_OK, 0) != 0) return false;
  return ::faccessat(process_.get(), task_path(id, "").c_str(), F_OK, 0) != 0;
}

std::string ProcessFiles::thread_name(uint32_t id) {
  if (!process_.is_open()) return {};
  std::string name = read_small(process_.get(), task_path(id, "/comm"));
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

std::shared_ptr<UniqueFd> ProcessFiles::open_executable() { return reopen(std::move(executable_)); }

void ProcessFiles::read_mapped() {
  mapped_.clear();
  UniqueFd maps(::openat(process_.get(), "maps", O_RDONLY | O_CLOEXEC));
  if (!maps.is_open()) return;
  std::string text;
  for (char part[1 << 16];;) {
    const ssize_t bytes = ::read(maps.get(), part, sizeof part);
    if (bytes <= 0) break;
    text.append(part, static_cast<size_t>(bytes));
  }
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line(text.data() + begin, end - begin);
    begin = end + 1;
    if (line.find('/') == line.npos) continue;  // of no file
    Range range{};
    const char* const line_end = line.data() + line.size();
    const auto [dash, error] = std::from_chars(line.data(), line_end, range.start, 16);
    if (error != std::errc() || dash == line_end) continue;
    if (std::from_chars(dash + 1, line_end, range.end, 16).ec == std::errc()) mapped_.push_back(range);
  }
}

// In map_files the kernel names a file by the bounds of its mapping. If these have changed, there is no such file.
UniqueFd ProcessFiles::open_range(uint64_t avma) {
  const auto after = std::upper_bound(mapped_.begin(), mapped_.end(), avma,
                                      [](uint64_t wanted, const Range& range) { return wanted < range.start; });
  errno = ENOENT;
  if (after == mapped_.begin() || avma >= std::prev(after)->end) return UniqueFd();
  const std::string name = fmt::format("map_files/{:x}-{:x}", std::prev(after)->start, std::prev(after)->end);
  return UniqueFd(::openat(process_.get(), name.c_str(), O_PATH | O_CLOEXEC));
}

std::shared_ptr<UniqueFd> ProcessFiles::open_mapped(uint64_t avma) {
  UniqueFd file = open_range(avma);
  if (!file.is_open() && errno == ENOENT) {
    read_mapped();
    file = open_range(avma);
  }
  return reopen(std::move(file));
}

std::shared_ptr<UniqueFd> ProcessFiles::open_jit_map() {
  if (own_id_.empty() || !tmp_.is_open()) return nullptr;
  UniqueFd map(::openat(tmp_.get(), ("perf-" + own_id_ + ".map").c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!map.is_open() || ::fstat(map.get(), &facts) != 0 || (facts.st_uid != user_ && facts.st_uid != 0)) return nullptr;
  return reopen(std::move(map));
}

std::shared_ptr<UniqueFd> ProcessFiles::open_path(const std::string& path) {
  if (!process_.is_open() || path.find('/') == std::string::npos) return nullptr;  // linux-vdso.so.1
  if (path.starts_with("/proc/") || path.starts_with("/dev/fd/")) return nullptr;  // these mean the process itself
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  if (path.front() != '/') {  // from LD_LIBRARY_PATH=. or dlopen("./x.so"); it was loaded a moment ago
    UniqueFd folder(::openat(process_.get(), "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC));
    return reopen(UniqueFd(static_cast<int>(::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how))));
  }
  if (root_.is_open()) {
    how.resolve |= RESOLVE_IN_ROOT;
    UniqueFd found(static_cast<int>(::syscall(SYS_openat2, root_.get(), path.c_str(), &how, sizeof how)));
    if (found.is_open()) return reopen(std::move(found));
  }
  return reopen(UniqueFd(::open(path.c_str(), O_PATH | O_CLOEXEC)));
}

// Opens the file of an O_PATH descriptor for reading, if it is a regular file. (O_PATH itself does not open the file.)
std::shared_ptr<UniqueFd> ProcessFiles::reopen(UniqueFd path_only) {
  struct stat status {};
  if (files_left_ == 0 || !path_only.is_open()) return nullptr;
  if (::fstat(path_only.get(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  const std::string self = "/proc/self/fd/" + std::to_string(path_only.get());
  UniqueFd file(::open(self.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return nullptr;
  --files_left_;
  return std::make_shared<UniqueFd>(std::move(file));
}

}  // namespace heapprof::cli
