// cli/attach/thread_choice.cc: see thread_choice.h. Calls by number, as /proc/PID/task/TID/syscall shows them.
#include "cli/attach/thread_choice.h"

#include "cli/attach/thread_status.h"
#include "cli/base/clock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr uint64_t kAvoidNs = 100'000'000;    // after a thread was seen in a call that a stop would affect
constexpr uint64_t kPatientNs = 500'000'000;  // with threads that are in the kernel most of the time
constexpr long kEpollPwait2 = 441, kFutexWaitv = 449, kFutexWait = 455;

FileKind file_kind(pid_t pid, pid_t id, uint64_t descriptor) {
  const std::string path = fmt::format("/proc/{}/task/{}/fd/{}", pid, id, static_cast<int>(descriptor));
  struct statx about {};
  constexpr mode_t kNoKind = 0;  // an eventfd, a timerfd, inotify …
  if (::statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC, STATX_TYPE, &about) != 0) return FileKind::kOther;
  switch (about.stx_mode & S_IFMT) {
    case S_IFIFO: return FileKind::kPipe;
    case S_IFSOCK:
    case S_IFCHR:
    case kNoKind: return FileKind::kStream;
    default: return FileKind::kOther;
  }
}

// State, and ticks in user mode and in the kernel: fields 3, 14 and 15.
struct ThreadStat {
  char state = 0;
  uint64_t user = 0, kernel = 0;
};
ThreadStat stat_of(pid_t pid, pid_t id) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/stat", pid, id));
  std::string text;
  std::getline(file, text, '\0');  // an iterator would throw if the thread ended at this moment
  const size_t name_end = text.rfind(") ");
  ThreadStat stat;
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return stat;
  stat.state = text[name_end + 2];
  size_t at = name_end + 2;
  for (int field = 3; field < 14 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  if (at == std::string::npos) return stat;
  char* end = nullptr;
  stat.user = std::strtoull(text.c_str() + at, &end, 10);
  stat.kernel = std::strtoull(end, nullptr, 10);
  return stat;
}

}  // namespace

WaitingCall waiting_call(pid_t pid, pid_t id) {
  WaitingCall call;
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", pid, id));
  if (!(file >> call.number) || call.number < 0) return {};
  std::array<uint64_t, 8> words{};
  for (uint64_t& word : words) {
    std::string text;
    if (file >> text) word = std::strtoull(text.c_str(), nullptr, 16);
  }
  std::copy(words.begin(), words.begin() + 6, call.arguments.begin());
  call.stack_avma = words[6];
  call.code_avma = words[7];
  return call;
}

bool begins_anew(const WaitingCall& call, FileKind file) {
  const std::array<uint64_t, 6>& arguments = call.arguments;
  constexpr uint64_t kFutexCommand = 127;
  switch (call.number) {
    case SYS_restart_syscall:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case kEpollPwait2:
    case kFutexWaitv:
    case kFutexWait:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_accept:
    case SYS_accept4:
    case SYS_flock:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_mq_timedreceive:
    case SYS_mq_timedsend: return true;
    case SYS_futex: return (arguments[1] & kFutexCommand) != FUTEX_WAIT_REQUEUE_PI;
    case SYS_fcntl: return arguments[1] == F_SETLKW || arguments[1] == F_OFD_SETLKW;
    case SYS_read:
    case SYS_readv: return file != FileKind::kOther;
    case SYS_recvfrom: return (arguments[3] & MSG_WAITALL) == 0;
    case SYS_recvmsg: return (arguments[2] & MSG_WAITALL) == 0;
    case SYS_recvmmsg: return arguments[2] <= 1 && (arguments[3] & MSG_WAITALL) == 0;
    case SYS_write: return file == FileKind::kPipe && arguments[2] <= PIPE_BUF;  // all or nothing
    case SYS_io_getevents:
    case SYS_io_pgetevents: return arguments[1] <= 1;   // the least number that it waits for
    case SYS_io_uring_enter: return arguments[1] == 0;  // it submits nothing and only waits
    default: return false;
  }
}

bool is_cut_short(const WaitingCall& call, int64_t result) {
  const std::array<uint64_t, 6>& arguments = call.arguments;
  if (result <= 0) return false;
  const auto got = static_cast<uint64_t>(result);
  switch (call.number) {
    case SYS_getrandom: return got < arguments[1];
    case SYS_read:  // a pipe or a socket that had fewer bytes counts, too
    case SYS_pread64:
    case SYS_write:
    case SYS_pwrite64:
    case SYS_sendto:
    case SYS_tee:
    case SYS_sendmmsg: return got < arguments[2];
    case SYS_recvfrom: return (arguments[3] & MSG_WAITALL) != 0 && got < arguments[2];
    case SYS_sendfile: return got < arguments[3];
    case SYS_splice:
    case SYS_copy_file_range: return got < arguments[4];
    case SYS_writev:  // the requested size is in the program's memory
    case SYS_sendmsg:
    case SYS_vmsplice:
    case SYS_pwritev: return true;
    default: return false;
  }
}

bool may_have_timeout(long number) {
  constexpr std::array kWithTimeout = {SYS_nanosleep,      SYS_clock_nanosleep, SYS_poll,           SYS_ppoll,
                                       SYS_select,         SYS_pselect6,        SYS_futex,          SYS_epoll_wait,
                                       SYS_epoll_pwait,    SYS_rt_sigtimedwait, SYS_accept,         SYS_accept4,
                                       SYS_read,           SYS_readv,           SYS_recvfrom,       SYS_recvmsg,
                                       SYS_recvmmsg,       SYS_semtimedop,      SYS_io_getevents,   SYS_io_pgetevents,
                                       SYS_io_uring_enter, SYS_mq_timedsend,    SYS_mq_timedreceive};
  return number == kEpollPwait2 || number == kFutexWaitv || number == kFutexWait ||
         std::count(kWithTimeout.begin(), kWithTimeout.end(), number) != 0;
}

std::string call_name(long number) {
  static const std::map<long, const char*> kNames = {
      {SYS_read, "read"},       {SYS_readv, "readv"},       {SYS_write, "write"},
      {SYS_writev, "writev"},   {SYS_pread64, "pread"},     {SYS_pwrite64, "pwrite"},
      {SYS_sendto, "send"},     {SYS_sendmsg, "sendmsg"},   {SYS_sendmmsg, "sendmmsg"},
      {SYS_recvfrom, "recv"},   {SYS_recvmsg, "recvmsg"},   {SYS_recvmmsg, "recvmmsg"},
      {SYS_connect, "connect"}, {SYS_sendfile, "sendfile"}, {SYS_splice, "splice"},
      {SYS_tee, "tee"},         {SYS_vmsplice, "vmsplice"}, {SYS_getrandom, "getrandom"},
      {SYS_open, "open"},       {SYS_openat, "openat"},     {SYS_ioctl, "ioctl"},
      {SYS_vfork, "vfork"},     {SYS_clone, "clone"},       {SYS_clone3, "clone3"},
      {SYS_execve, "execve"},   {SYS_fsync, "fsync"},       {SYS_copy_file_range, "copy_file_range"}};
  const auto found = kNames.find(number);
  return found == kNames.end() ? fmt::format("system call {}", number) : fmt::format("{}()", found->second);
}

std::vector<pid_t> ThreadChoice::look() {
  std::vector<std::pair<int, pid_t>> ranked;
  for (const pid_t id : thread_ids(pid_)) {
    const ThreadStat stat = stat_of(pid_, id);
    if (stat.state == 0 || stat.state == 'Z' || stat.state == 'X') continue;
    const WaitingCall call = waiting_call(pid_, id);
    Times& times = times_[id];
    note_ticks(&times, stat.user, stat.kernel);
    if (stat.state == 'D') {  // an uninterruptible wait: a stop would come only later
      obstacle_ = fmt::format("its thread {} waits where no signal reaches it{}", id,
                              call.number < 0 ? "" : ", in " + call_name(call.number));
    } else if (call.number < 0) {
      if (may_stop_running(id, times, stat.user, stat.kernel)) ranked.emplace_back(2, id);
    } else if (begins_anew(call, file_kind(pid_, id, call.arguments[0]))) {
      ranked.emplace_back(may_have_timeout(call.number) ? 1 : 0, id);
    } else {
      times.avoided_until_ns = std::max(times.avoided_until_ns, monotonic_ns() + kAvoidNs);
      obstacle_ = fmt::format("its thread {} is in {}, which a stop would end too early", id, call_name(call.number));
    }
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<pid_t> ids;
  for (const auto& [rank, id] : ranked) ids.push_back(id);
  return ids;
}

void ThreadChoice::note_stop(pid_t id, const WaitingCall& call, int64_t result) {
  if (!is_cut_short(call, result)) return;
  Times& times = times_[id];
  times.avoid_ns *= 2;
  times.avoided_until_ns = monotonic_ns() + times.avoid_ns;
  obstacle_ =
      fmt::format("its thread {} is in {} again and again, which a stop ends too early", id, call_name(call.number));
}

void ThreadChoice::note_ticks(Times* times, uint64_t user, uint64_t kernel) const {
  constexpr uint64_t kLeastTicks = 4;
  constexpr uint64_t kOfKernel = 4;
  if (times->first_ns == 0) {
    times->first_ns = monotonic_ns();
    times->user = times->first_user = user;
    times->kernel = times->first_kernel = kernel;
  } else if (user - times->user + (kernel - times->kernel) >= kLeastTicks) {
    times->is_in_kernel = (kernel - times->kernel) * kOfKernel > user - times->user;
    times->user = user, times->kernel = kernel;
  }
}

// A running thread may be stopped unless it is likely to be in the middle of a call.
bool ThreadChoice::may_stop_running(pid_t id, const Times& times, uint64_t user, uint64_t kernel) {
  constexpr uint64_t kNearlyAlways = 10;
  const uint64_t now_ns = monotonic_ns();
  if (now_ns < times.avoided_until_ns) return false;
  if (!times.is_in_kernel) return true;
  obstacle_ = fmt::format("its thread {} is in the kernel most of the time, where a stop may end a call too early", id);
  return now_ns - times.first_ns >= kPatientNs &&
         kernel - times.first_kernel <= kNearlyAlways * (user - times.first_user);
}

}  // namespace heapprof::cli
