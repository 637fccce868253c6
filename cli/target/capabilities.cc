// cli/target/capabilities.cc: each system call is tried as the collector or the agent makes it. Version numbers are
// only shown, because distributions backport features.
#include "cli/target/capabilities.h"

#include "cli/base/fd.h"
#include "cli/base/problems.h"
#include "cli/base/units.h"
#include "cli/target/machine.h"
#include "shared/wire.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

namespace heapprof::cli {
namespace {

#ifndef MADV_WIPEONFORK
constexpr int MADV_WIPEONFORK = 18;
#endif
constexpr uint64_t kMiB = 1 << 20;

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string status_field(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  }
  return "";
}

// Gives the file the arena's size, which takes no memory, as heapprof run does: with the soft limit of file sizes
// raised to the hard one. 0, or an errno.
int size_as_arena(int fd) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit raised{before.rlim_max, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &raised);
  const auto handler = signal(SIGXFSZ, SIG_IGN);  // else the refusal ends this process
  const int error = ftruncate(fd, static_cast<off_t>(wire::kArenaBytes)) == 0 ? 0 : errno;
  signal(SIGXFSZ, handler);
  setrlimit(RLIMIT_FSIZE, &before);
  return error;
}

Capability try_memfd() {
  const UniqueFd fd(memfd_create("heapprof-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) {
    return {"memfd", Availability::kMissing,
            "memfd_create is refused: " + errno_text(errno) + "; there is no memory to share with the program",
            "allow memfd_create in the sandbox or container that runs heapprof"};
  }
  if (const int error = size_as_arena(fd.get()); error != 0)
    return {"memfd", Availability::kMissing,
            fmt::format("a memory file of {} is refused: {}", format_bytes(wire::kArenaBytes), errno_text(error)),
            error == EFBIG ? "raise the hard limit of file sizes (ulimit -Hf unlimited)"
                           : "allow memory files of that size in the sandbox or container that runs heapprof"};
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return {"memfd", Availability::kMissing, "memory files cannot be sealed: " + errno_text(errno),
            "use Linux 3.17 or newer, or allow fcntl(F_ADD_SEALS) in the sandbox"};
  }
  return {"memfd", Availability::kOk, "memory can be shared with the program, and sealed", ""};
}

Capability try_membarrier() {
  const long kinds = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  const bool has_expedited = kinds > 0 && (kinds & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0;
  const bool has_global = kinds > 0 && (kinds & MEMBARRIER_CMD_GLOBAL) != 0;
  if (has_expedited)
    return {"membarrier", Availability::kOk, has_global ? "global expedited, global" : "global expedited", ""};
  return {"membarrier", Availability::kWarning,
          has_global ? "only global: each look at the program's rings takes about 10 ms"
                     : "refused: the program's threads order their events themselves, which costs them more",
          "use Linux 4.16 or newer, or allow membarrier in the sandbox"};
}

Capability try_pidfd() {
  const UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (fd.is_open()) return {"pidfd", Availability::kOk, "the end of each process is seen at once", ""};
  return {"pidfd", Availability::kWarning,
          "pidfd_open is refused: " + errno_text(errno) + "; the ends of child processes are not seen",
          "use Linux 5.3 or newer, or allow pidfd_open in the sandbox"};
}

Capability try_wipe_on_fork() {
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const page = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool works = page != MAP_FAILED && madvise(page, page_bytes, MADV_WIPEONFORK) == 0;
  const int error = errno;
  if (page != MAP_FAILED) munmap(page, page_bytes);
  if (works)
    return {"fork", Availability::kOk, "a forked child cannot write into its parent's profile (MADV_WIPEONFORK)", ""};
  return {"fork", Availability::kMissing,
          "MADV_WIPEONFORK is refused: " + errno_text(error) + "; the agent does not record without it",
          "use Linux 4.14 or newer, or allow madvise in the sandbox"};
}

Capability try_seccomp() {
  const std::string mode = status_field("Seccomp");
  if (mode == "0") return {"seccomp", Availability::kOk, "no filter of system calls is in force", ""};
  if (mode.empty())
    return {"seccomp", Availability::kWarning,
            "whether a filter is in force cannot be read: full rings are waited for by spinning", "mount /proc"};
  return {"seccomp", Availability::kWarning,
          "a seccomp filter is in force (as in most containers): the program waits for a full ring without "
          "system calls",
          "docker run --security-opt seccomp=unconfined, if events come too fast"};
}

// A missing file below /proc/sys means that a feature is missing only if /proc is mounted, as this file shows.
bool is_proc_mounted() { return !first_line("/proc/sys/kernel/osrelease").empty(); }

Capability try_ptrace() {
  const std::string scope = first_line("/proc/sys/kernel/yama/ptrace_scope");
  const std::string use = "; heapprof uses ptrace for attach, detach and run --leak-check only";
  if (scope.empty() && !is_proc_mounted())
    return {"ptrace", Availability::kWarning, "whether Yama restricts it cannot be read" + use, "mount /proc"};
  const std::string what = scope.empty() ? "no restriction by Yama" : "Yama's ptrace_scope is " + scope;
  return {"ptrace", Availability::kOk, what + use, ""};
}

Capability try_randomization() {
  const std::string level = first_line("/proc/sys/kernel/randomize_va_space");
  const bool is_off = (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0 || level == "0";
  if (!is_off && level.empty())
    return {"address space", Availability::kWarning, "whether it is randomized cannot be read", "mount /proc"};
  return {"address space", Availability::kOk,
          std::string(is_off ? "not randomized" : "randomized") +
              "; profiles hold addresses of files, so runs can be compared either way",
          ""};
}

Capability try_descriptors() {
  constexpr uint64_t kFew = 256;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= kFew)
    return {"open files", Availability::kOk,
            format_count_exact(limit.rlim_cur) + " at once; three for each process that is profiled", ""};
  return {
      "open files", Availability::kWarning,
      fmt::format("only {} at once: about {} processes can be profiled at a time", limit.rlim_cur, limit.rlim_cur / 4),
      "ulimit -n 1024"};
}

Capability try_address_space() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  if (limit.rlim_cur == RLIM_INFINITY)
    return {"memory limit", Availability::kOk, "address space is unlimited (RLIMIT_AS)", ""};
  return {
      "memory limit", limit.rlim_cur < 512 * kMiB ? Availability::kWarning : Availability::kOk,
      fmt::format("address space is limited to {} (RLIMIT_AS): the agent takes 2 MiB and 1 MiB for each thread of it",
                  format_bytes(limit.rlim_cur)),
      limit.rlim_cur < 512 * kMiB ? "ulimit -v unlimited" : ""};
}

Capability try_locked_memory() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return {"locked memory", Availability::kOk,
          (limit.rlim_cur == RLIM_INFINITY ? "unlimited" : format_bytes(limit.rlim_cur)) +
              " (RLIMIT_MEMLOCK); heapprof locks none",
          ""};
}

struct GroupLimit {
  uint64_t limit_bytes = 0;
  uint64_t used_bytes = 0;
};

std::optional<uint64_t> number_in(const std::filesystem::path& file) {
  const std::string line = first_line(file.string());
  if (line.empty() || line.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::strtoull(line.c_str(), nullptr, 10);
}

// The lowest memory limit of our control group and of its ancestors, in cgroup version 2, or in version 1's memory
// controller.
std::optional<GroupLimit> find_group_limit() {
  std::optional<GroupLimit> tightest;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const bool is_second = line.starts_with("0::");
    const size_t path_at = line.rfind(':');
    if (path_at == std::string::npos || (!is_second && line.find(":memory:") == std::string::npos)) continue;
    const std::filesystem::path root = is_second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    std::filesystem::path group = root / line.substr(path_at + 1).erase(0, 1);
    for (int level = 0; level < 64; ++level) {
      const auto limit = number_in(group / (is_second ? "memory.max" : "memory.limit_in_bytes"));
      const auto used = number_in(group / (is_second ? "memory.current" : "memory.usage_in_bytes"));
      constexpr uint64_t kNoLimit = uint64_t{1} << 60;  // version 1 shows "no limit" as a larger number
      if (limit && *limit < kNoLimit && (!tightest || *limit < tightest->limit_bytes))
        tightest = GroupLimit{*limit, used.value_or(0)};
      if (group == root || group == group.parent_path()) break;
      group = group.parent_path();
    }
  }
  return tightest;
}

Capability try_group() {
  const std::optional<GroupLimit> group = find_group_limit();
  const std::string charge = "up to 4 MiB a process and 220 KiB a thread are charged to it, and 6 MiB while it is busy";
  if (!group) return {"control group", Availability::kOk, "no memory limit; " + charge, ""};
  const uint64_t left = group->limit_bytes - std::min(group->used_bytes, group->limit_bytes);
  const std::string what = fmt::format("memory is limited to {}, {} are left; {}", format_bytes(group->limit_bytes),
                                       format_bytes(left), charge);
  if (left >= 64 * kMiB) return {"control group", Availability::kOk, what, ""};
  return {"control group", Availability::kWarning, what, "raise memory.max of the group, or run heapprof outside it"};
}

Capability try_proc() {
  struct stat facts {};
  char path[16];
  const bool has_self = readlink("/proc/self/exe", path, sizeof path) > 0;
  if (!has_self)
    return {"/proc", Availability::kMissing, "is not mounted: processes cannot be identified, nor their files be found",
            "mount -t proc proc /proc"};
  if (stat("/proc/1/stat", &facts) != 0)
    return {"/proc", Availability::kOk, "is mounted; processes of others are hidden, which does no harm", ""};
  return {"/proc", Availability::kOk, "is mounted", ""};
}

UniqueFd bound_socket(const std::string& path, bool is_abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() + 2 > sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return {};
  }
  std::memcpy(address.sun_path + (is_abstract ? 1 : 0), path.data(), path.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  if (!fd.is_open() || bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return {};
  return fd;
}

Capability try_abstract_socket() {
  const UniqueFd fd = bound_socket(fmt::format("/tmp/heapprof-doctor-{}", getpid()), true);
  if (fd.is_open())
    return {"abstract socket", Availability::kOk, "programs reach heapprof in a chroot and as another user", ""};
  return {"abstract socket", Availability::kMissing, "cannot be made: " + errno_text(errno),
          "allow AF_UNIX sockets in the sandbox"};
}

Capability try_socket_folder() {
  const char* const set = std::getenv("TMPDIR");
  const std::string folder = set != nullptr && *set == '/' ? set : "/tmp";
  const std::string path = fmt::format("{}/heapprof-doctor-{}", folder, getpid());
  const UniqueFd fd = bound_socket(path, false);
  const int error = errno;
  if (fd.is_open()) {
    unlink(path.c_str());
    return {"socket file", Availability::kOk, folder + ": programs reach heapprof in another network namespace", ""};
  }
  return {"socket file", Availability::kWarning,
          fmt::format("none can be made in {}: {}; programs in a network namespace of their own are not profiled",
                      folder, errno_text(error)),
          "export TMPDIR=/tmp, or another folder that can be written"};
}

Capability try_debuginfod() {
  const char* const urls = std::getenv("DEBUGINFOD_URLS");
  if (urls != nullptr && *urls != 0)
    return {"debuginfod", Availability::kOk, std::string("missing names are asked of ") + urls, ""};
  return {"debuginfod", Availability::kOk, "DEBUGINFOD_URLS is not set: names come from files of this machine alone",
          ""};
}

Capability try_pages() {
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (page_bytes == wire::kPageBytes) return {"kernel", Availability::kOk, describe_machine().kernel, ""};
  const Problem problem = kernel_has_other_pages(page_bytes);
  return {"kernel", Availability::kMissing, problem.what, problem.fix};
}

}  // namespace

std::vector<Capability> try_kernel() {
  return {try_pages(),        try_memfd(),   try_membarrier(), try_pidfd(),
          try_wipe_on_fork(), try_seccomp(), try_ptrace(),     try_randomization()};
}

std::vector<Capability> try_limits() {
  return {try_descriptors(), try_address_space(), try_locked_memory(), try_group()};
}

std::vector<Capability> try_paths() {
  return {try_proc(), try_abstract_socket(), try_socket_folder(), try_debuginfod()};
}

}  // namespace heapprof::cli
