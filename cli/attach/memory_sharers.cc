// cli/attach/memory_sharers.cc: asks kcmp(2) whether two processes share their memory. The list of mappings cannot
// tell: a forked child has the same list.
//
// A thread waits in clone() only if it made a child as vfork() does (CLONE_VFORK). So if n threads wait there, n of the
// children that share the memory run instead of these threads. Only if there are more such children, one runs
// concurrently with the process.
#include "cli/attach/memory_sharers.h"

#include "cli/attach/thread_status.h"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <vector>

namespace heapprof::cli {

namespace {

bool has_same_memory(pid_t one, pid_t other) { return ::syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0) == 0; }

bool waits_in_vfork(pid_t pid, pid_t id) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", pid, id));
  long number = -1;
  return static_cast<bool>(file >> number) && (number == SYS_vfork || number == SYS_clone || number == SYS_clone3);
}

}  // namespace

std::optional<pid_t> find_memory_sharer(pid_t pid) {
  std::optional<pid_t> found;
  DIR* const folder = ::opendir("/proc");
  if (folder == nullptr) return found;
  while (const dirent* const entry = found ? nullptr : ::readdir(folder)) {
    const auto other = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (other <= 0 || other == pid || !has_same_memory(pid, other)) continue;
    if (number_in_status(other, other, "PPid:") != static_cast<uint64_t>(pid)) found = other;
  }
  ::closedir(folder);
  return found;
}

std::optional<pid_t> find_child_beside(pid_t pid) {
  std::optional<pid_t> last;
  int64_t beside = 0;
  const std::vector<pid_t> ids = thread_ids(pid);
  for (const pid_t id : ids) {
    std::ifstream children(fmt::format("/proc/{}/task/{}/children", pid, id));
    for (pid_t child = 0; children >> child;) {
      if (!has_same_memory(pid, child)) continue;
      ++beside;
      last = child;
    }
  }
  if (beside == 0) return std::nullopt;
  for (const pid_t id : ids) beside -= waits_in_vfork(pid, id) ? 1 : 0;
  return beside > 0 ? last : std::nullopt;
}

}  // namespace heapprof::cli
