// cli/target/process_identity.cc: reads from /proc what pidfds do not show, and uses it only if it can be trusted.
//
// A pidfd shows that a process has ended, and on newer kernels (PIDFD_INFO_EXIT) also how. On older kernels,
// /proc/PID/stat has the exit status of a process that is not our child, until its parent has waited for it. Only
// readers that may trace the process see the status; others see 0, which looks like success. So the status is used only
// if we may also signal the process, and is unknown otherwise.
//
// The program's name in that file may contain brackets, blanks and line ends, so fields are counted from the last
// bracket.
#include "cli/target/process_identity.h"

#include "cli/target/proc_file.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <string>
#include <thread>

namespace heapprof::cli {

namespace {

// proc(5), /proc/PID/stat: numbers of the fields after the name in brackets.
constexpr size_t kState = 3;
constexpr size_t kParent = 4;
constexpr size_t kFlags = 9;
constexpr size_t kThreads = 20;
constexpr size_t kStartTime = 22;
constexpr size_t kStackStart = 28;        // 0 for readers that may not trace the process
constexpr size_t kEnvironmentStart = 50;  // 0 during an exec, and for readers that may not trace the process
constexpr size_t kExitCode = 52;

constexpr uint64_t kForkedWithoutExec = 0x40;  // PF_FORKNOEXEC of the kernel

constexpr std::chrono::milliseconds kExecStep(1);
constexpr int kMostExecSteps = 50;

struct Stat {
  char state = 0;  // 0: no such process
  std::vector<uint64_t> fields = std::vector<uint64_t>(kExitCode + 1);
};

Stat read_stat(pid_t pid) {
  Stat stat;
  const std::string text = read_proc(pid, "stat");
  const size_t name_end = text.rfind(')');  // the name may contain anything
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return stat;
  stat.state = text[name_end + 2];
  const char* at = text.data() + name_end + 3;
  const char* end = text.data() + text.size();
  for (size_t field = kState + 1; field < stat.fields.size() && at < end; ++field) {
    while (at < end && *at == ' ') ++at;
    const auto [stop, error] = std::from_chars(at, end, stat.fields[field]);
    if (error == std::errc()) {
      at = stop;
    } else {
      while (at < end && *at != ' ') ++at;  // a negative number
    }
  }
  return stat;
}

// If the first thread has ended, it stays a zombie while other threads run. So the process has ended only if it has no
// other thread.
bool is_zombie(const Stat& stat) { return (stat.state == 'Z' && stat.fields[kThreads] <= 1) || stat.state == 'X'; }

RunEnd decode(int status) {
  if (WIFSIGNALED(status)) return {EndKind::kSignaled, WTERMSIG(status)};
  return {EndKind::kExited, WEXITSTATUS(status)};
}

// linux/pidfd.h, newer than Debian 12's headers.
struct PidfdInfo {
  uint64_t mask = 0;
  uint64_t cgroup_id = 0;
  uint32_t pid = 0, tgid = 0, ppid = 0;
  uint32_t ids[8] = {};
  int32_t exit_code = 0;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr uint64_t kPidfdInfoExit = 1 << 3;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xff, 11, PidfdInfo);

}  // namespace

ProcessLook look_at(pid_t pid) {
  ProcessLook look;
  struct stat facts {};
  if (::stat(fmt::format("/proc/{}/exe", pid).c_str(), &facts) == 0) {
    look.image.device = facts.st_dev;
    look.image.inode = facts.st_ino;
  }
  const Stat stat = read_stat(pid);
  look.image.stack_start_avma = stat.fields[kStackStart];
  look.start_ticks = stat.fields[kStartTime];
  look.parent = static_cast<pid_t>(stat.fields[kParent]);
  look.is_forked = (stat.fields[kFlags] & kForkedWithoutExec) != 0;
  return look;
}

std::string read_environment(pid_t pid) {
  uint64_t before_avma = 0;
  for (int step = 0;; ++step) {
    std::string environment = read_proc(pid, "environ");
    if (!environment.empty() || step == kMostExecSteps) return environment;
    const uint64_t start_avma = read_stat(pid).fields[kEnvironmentStart];
    if (start_avma != 0 && start_avma == before_avma) return "";  // it has no variables
    // The process is gone, another user's, or a kernel thread.
    if (access(fmt::format("/proc/{}/exe", pid).c_str(), F_OK) != 0) return "";
    before_avma = start_avma;
    if (start_avma == 0) std::this_thread::sleep_for(kExecStep);
  }
}

bool is_other_image(const ImageIdentity& before, const ImageIdentity& now) {
  if (before.inode != 0 && now.inode != 0 && (before.inode != now.inode || before.device != now.device)) return true;
  return before.stack_start_avma != 0 && now.stack_start_avma != 0 && before.stack_start_avma != now.stack_start_avma;
}

bool has_ended(const ProcessHandle& process) {
  if (process.pidfd.is_open()) {
    pollfd waiting{process.pidfd.get(), POLLIN, 0};
    return poll(&waiting, 1, 0) == 1;
  }
  if (process.start_ticks == 0) return kill(process.pid, 0) != 0 && errno == ESRCH;
  const Stat now = read_stat(process.pid);
  return now.state == 0 || is_zombie(now) || now.fields[kStartTime] != process.start_ticks;
}

RunEnd end_of(const ProcessHandle& process) {
  PidfdInfo info;
  info.mask = kPidfdInfoExit;
  if (process.pidfd.is_open() && ioctl(process.pidfd.get(), kPidfdGetInfo, &info) == 0 &&
      (info.mask & kPidfdInfoExit) != 0) {
    return decode(info.exit_code);
  }
  const Stat now = read_stat(process.pid);
  const bool is_readable = kill(process.pid, 0) == 0;  // otherwise the exit code would be shown as 0
  if (is_readable && is_zombie(now) && process.start_ticks != 0 && now.fields[kStartTime] == process.start_ticks)
    return decode(static_cast<int>(now.fields[kExitCode]));
  return {EndKind::kUnknown, 0};
}

}  // namespace heapprof::cli
