// cli/collect/leaks/stopped_threads.cc: reads /proc/PID/task again and again until it has no new thread, because a
// thread that is not stopped yet may create another.
#include "cli/collect/leaks/stopped_threads.h"

#include "cli/arch/arch.h"
#include "cli/base/clock.h"

#include <dirent.h>
#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <unordered_set>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMostStopNs = 5'000'000'000;  // a thread in the kernel's uninterruptible sleep does not stop
constexpr timespec kPause{0, 200'000};
constexpr char kNotStopped[] = "one of its threads did not stop";

std::string task_path(pid_t pid, pid_t id, const char* file) {
  return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(id) + "/" + file;
}

std::vector<pid_t> list_tasks(pid_t pid) {
  std::vector<pid_t> ids;
  DIR* const folder = ::opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
  if (folder == nullptr) return ids;
  while (const dirent* const entry = ::readdir(folder)) {
    if (const long id = std::strtol(entry->d_name, nullptr, 10); id > 0) ids.push_back(static_cast<pid_t>(id));
  }
  ::closedir(folder);
  return ids;
}

// The thread's id in its own pid namespace: the last one that the kernel lists. 0: it is gone.
uint32_t own_id(pid_t pid, pid_t id) {
  std::ifstream status(task_path(pid, id, "status"));
  std::string line;
  while (std::getline(status, line)) {
    if (!line.starts_with("NSpid:")) continue;
    const size_t last = line.find_last_of(" \t");
    return last == std::string::npos ? 0 : static_cast<uint32_t>(std::strtoul(line.c_str() + last, nullptr, 10));
  }
  return 0;
}

// The letter of the thread's state; 0: it is gone.
char state_of(pid_t pid, pid_t id) {
  std::ifstream stat(task_path(pid, id, "stat"));
  std::string line;
  if (!std::getline(stat, line)) return 0;
  const size_t name_end = line.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= line.size() ? '\0' : line[name_end + 2];
}

bool has_died(pid_t pid, pid_t id) {
  const char state = state_of(pid, id);
  return state == 0 || state == 'Z' || state == 'X';
}

template <typename Registers>
bool read_registers(pid_t id, int set, Registers* registers) {
  iovec part{registers, sizeof *registers};
  return ::ptrace(PTRACE_GETREGSET, id, set, &part) == 0;
}

template <typename Registers>
void add_words(const Registers& registers, std::vector<uint64_t>* words) {
  const size_t before = words->size();
  words->resize(before + sizeof registers / sizeof(uint64_t));
  std::memcpy(words->data() + before, &registers, (words->size() - before) * sizeof(uint64_t));
}

// Whether a signal is pending, which would end the call as well.
bool has_pending_signal(pid_t pid, pid_t id) {
  std::ifstream status(task_path(pid, id, "status"));
  uint64_t pending = 0;
  uint64_t blocked = 0;
  int found = 0;
  for (std::string line; std::getline(status, line);) {
    const bool is_blocked = line.starts_with("SigBlk:");
    if (!is_blocked && !line.starts_with("SigPnd:") && !line.starts_with("ShdPnd:")) continue;
    (is_blocked ? blocked : pending) |= std::strtoull(line.c_str() + sizeof "SigBlk:" - 1, nullptr, 16);
    ++found;
  }
  return found != 3 || (pending & ~blocked) != 0;
}

void renew_call(pid_t pid, pid_t id) {
  user_regs_struct registers{};
  if (!read_registers(id, NT_PRSTATUS, &registers) || !begin_call_again(id, &registers) || has_pending_signal(pid, id))
    return;
  iovec part{&registers, sizeof registers};
  ::ptrace(PTRACE_SETREGSET, id, NT_PRSTATUS, &part);
}

}  // namespace

void StoppedThreads::renew_calls() const {
  for (const Thread& thread : threads_) {
    constexpr int kNews = WSTOPPED | WNOHANG | WNOWAIT | __WALL;
    constexpr int kStopOfOurs = SIGTRAP | (PTRACE_EVENT_STOP << 8);
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(thread.id), &info, kNews) == 0 && info.si_pid != 0 &&
        info.si_status == kStopOfOurs)
      renew_call(pid_, thread.id);
  }
}

void StoppedThreads::bury_dead(pid_t pid) {
  for (const pid_t id : list_tasks(pid)) {
    // Whatever is asked for, waitid() also reports, and consumes, stops of traced threads. So look at the answer with
    // WNOWAIT first.
    siginfo_t info{};
    constexpr int kEnd = WEXITED | WNOHANG | __WALL;
    if (id == pid || ::waitid(P_PID, static_cast<id_t>(id), &info, kEnd | WNOWAIT) != 0) continue;
    if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
      ::waitid(P_PID, static_cast<id_t>(id), &info, kEnd);
  }
}

std::string StoppedThreads::stop(pid_t pid, uint32_t exiting_id, const std::function<bool()>& has_to_stop) {
  pid_ = pid;
  const uint64_t start_ns = monotonic_ns();
  const auto is_late = [&] { return monotonic_ns() - start_ns > kMostStopNs || has_to_stop(); };
  std::unordered_set<pid_t> held;
  size_t looked_at = 0;  // how many of threads_ were looked at
  for (bool has_new = true; has_new;) {
    has_new = false;
    for (const pid_t id : list_tasks(pid)) {
      if (id == exiting_ || held.count(id) != 0) continue;
      if (is_late()) return kNotStopped;
      if (exiting_ == 0 && own_id(pid, id) == exiting_id) {
        exiting_ = id;
        continue;
      }
      if (::ptrace(PTRACE_SEIZE, id, nullptr, nullptr) != 0) {
        const int error = errno;
        if (error == ESRCH || has_died(pid, id)) continue;
        return std::string("one of its threads cannot be stopped (ptrace: ") + std::strerror(error) + ")";
      }
      threads_.push_back({id, 0, 0, {}});
      held.insert(id);
      has_new = true;
      ::ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
    }
    for (; looked_at < threads_.size(); ++looked_at) {
      Thread& thread = threads_[looked_at];
      for (;;) {
        // Do not use WEXITED, because the exit status is for the process's parent. WNOWAIT leaves the report in place:
        // if a signal stopped the thread, the report contains the signal, and consuming the report would lose it.
        constexpr int kNews = WSTOPPED | WNOHANG | WNOWAIT | __WALL;
        siginfo_t info{};
        if (::waitid(P_PID, static_cast<id_t>(thread.id), &info, kNews) == 0 && info.si_pid != 0) break;
        if (has_died(pid, thread.id)) break;
        if (is_late()) return kNotStopped;
        ::nanosleep(&kPause, nullptr);
      }
      user_regs_struct general{};
      VectorRegisters vectors{};
      if (!read_registers(thread.id, NT_PRSTATUS, &general)) continue;
      thread.stack_avma = stack_pointer(general) - kRedZoneBytes;
      thread.thread_avma = thread_pointer(thread.id, general);
      add_words(general, &thread.words);
      if (read_registers(thread.id, NT_PRFPREG, &vectors)) add_words(vectors, &thread.words);
    }
  }
  return exiting_ == 0 ? "the process ended during the check" : "";
}

void StoppedThreads::await_end(uint64_t most_ns) const {
  if (threads_.empty()) return;
  const uint64_t start_ns = monotonic_ns();
  while (monotonic_ns() - start_ns < most_ns && !has_died(pid_, threads_.front().id)) ::nanosleep(&kPause, nullptr);
}

}  // namespace heapprof::cli
