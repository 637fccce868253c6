// agent/process/copied_process.cc: makes the copy by a raw clone, which is a fork without libc. No handler of
// pthread_atfork runs. libc still takes the thread for the original one, so locks that this thread holds are also its
// own in the copy.
//
// An exit signal of 0 makes the copy a child that only __WCLONE waits for.
#include "agent/process/copied_process.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/link_map.h"
#include "agent/process/state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/wait.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <atomic>

namespace heapprof::agent {

namespace {

constexpr long kPatienceMs = 2000;
constexpr long kLookMs = 5;  // how often to check whether the copy has died

struct Shared {
  std::atomic<uint32_t> done;
  alignas(16) unsigned char result[kMostCopiedBytes];
};
static_assert(sizeof(Shared) <= 4096);

// Reads /proc/thread-self/maps, one line at a time: the range [start, end), and its access rights ("rw-s").
class MapsReader {
 public:
  MapsReader()
      : fd_(static_cast<int>(
            raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/thread-self/maps"), O_RDONLY))) {}
  ~MapsReader() {
    if (fd_ >= 0) sys_close(fd_);
  }
  MapsReader(const MapsReader&) = delete;
  MapsReader& operator=(const MapsReader&) = delete;

  bool is_open() const { return fd_ >= 0; }
  bool next(uint64_t* start_avma, uint64_t* end_avma, char (&access)[4]) {
    if (!read_number('-', start_avma) || !read_number(' ', end_avma)) return false;
    for (char& one : access) one = read();
    for (char at = read(); at != '\n'; at = read()) {
      if (at == 0) return false;
    }
    return true;
  }

 private:
  char read() {  // 0: the end
    if (at_ == count_) {
      at_ = 0;
      count_ = raw_syscall(SYS_read, fd_, reinterpret_cast<long>(text_), sizeof text_);
      if (count_ <= 0) return static_cast<char>(count_ = 0);
    }
    return text_[at_++];
  }
  bool read_number(char behind, uint64_t* number) {
    *number = 0;
    for (char at = read(); at != behind; at = read()) {
      const bool is_digit = at >= '0' && at <= '9';
      if (!is_digit && (at < 'a' || at > 'f')) return false;
      *number = *number << 4 | static_cast<uint64_t>(is_digit ? at - '0' : at - 'a' + 10);
    }
    return true;
  }

  int fd_;
  char text_[1024];
  long at_ = 0, count_ = 0;
};

// A function that is tried may count, or lock a mutex, in memory that the program shares with other processes. The
// copy's write would take effect there. So such memory becomes read-only, and the copy dies at the write. What the
// agent itself writes stays writable.
bool protect_shared_memory(const void* shared) {
  MapsReader maps;
  uint64_t start_avma = 0, end_avma = 0;
  char access[4];
  if (!maps.is_open()) return false;
  while (maps.next(&start_avma, &end_avma, access)) {
    const auto holds = [&](const void* what) {
      return reinterpret_cast<uint64_t>(what) - start_avma < end_avma - start_avma;
    };
    if (access[1] != 'w' || access[3] != 's' || holds(shared) || holds(g_control) || holds(&g_sampling)) continue;
    const long result =
        raw_syscall(SYS_mprotect, static_cast<long>(start_avma), static_cast<long>(end_avma - start_avma), PROT_READ);
    // The memory is sealed (mseal). Any other error comes from an emulator that protects its own memory (Valgrind).
    if (result == -EPERM) return false;
  }
  return true;
}

// The allocator may open files and print messages, so files are closed. False: only the first ones are (before Linux
// 5.9).
bool close_files() {
  constexpr int kFirst = 256;
  if (!is_error(raw_syscall(SYS_close_range, 0, ~0u, 0))) return true;
  for (int fd = 0; fd < kFirst; ++fd) sys_close(fd);
  return false;
}

// The functions that are tried are known only by name, and a function that is not an allocator's may do anything. So
// from here on the copy may only make the system calls that an allocator needs for its own memory and threads. Every
// other call is refused with EPERM: no file is removed, no process is sent a signal. If the kernel accepts no filter,
// closing the files has to suffice. If no file of the program is open, read and write are allowed, because they can
// only reach an emulator's files (Valgrind's locks).
void filter_calls(bool has_no_files) {
  constexpr uint32_t kAllowed[] = {SYS_mmap,
                                   SYS_munmap,
                                   SYS_mremap,
                                   SYS_mprotect,
                                   SYS_madvise,
                                   SYS_brk,
                                   SYS_futex,
                                   SYS_exit,
                                   SYS_exit_group,
                                   SYS_rt_sigreturn,
                                   SYS_sched_yield,
                                   SYS_getpid,
                                   SYS_rt_sigprocmask,
                                   SYS_gettid,
                                   SYS_clock_gettime,
                                   SYS_clock_getres,
                                   SYS_gettimeofday,
                                   SYS_nanosleep,
                                   SYS_getrlimit,
                                   SYS_prlimit64,
                                   SYS_clock_nanosleep,
                                   kStorageSystemCall,
                                   SYS_getrandom,
                                   SYS_getcpu,
                                   SYS_set_robust_list,
                                   SYS_sched_getaffinity,
                                   SYS_membarrier,
                                   SYS_rseq};
  constexpr uint32_t kClone3 = 435;
  constexpr uint32_t kOthers = 12;
  sock_filter code[2 * sizeof kAllowed / sizeof kAllowed[0] + kOthers] = {};
  uint16_t count = 0;
  const auto add = [&](uint16_t what, uint32_t value, uint8_t jump = 0, uint8_t otherwise = 0) {
    code[count++] = {what, jump, otherwise, value};
  };
  const auto answer = [&](uint32_t number, uint32_t with) {
    add(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
    add(BPF_RET | BPF_K, with);
  };
  add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (const uint32_t number : kAllowed) answer(number, SECCOMP_RET_ALLOW);
  if (has_no_files) {
    for (const uint32_t number : {SYS_read, SYS_write}) answer(number, SECCOMP_RET_ALLOW);
  }
  answer(kClone3, SECCOMP_RET_ERRNO | ENOSYS);      // libc then calls clone
  add(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);  // threads of its own are allowed
  add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args));
  add(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1);
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  sock_fprog program{count, code};
  if (is_error(raw_syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))) return;
  raw_syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, reinterpret_cast<long>(&program));
}

[[noreturn]] void be_copy(void (*work)(void*), Shared* shared) {
  if (!protect_shared_memory(shared)) {
    for (;;) raw_syscall(SYS_exit_group, 0);
  }
  raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 0);
  filter_calls(close_files());
  g_fork_page.state = AgentState::kOff;  // threads that the allocator starts here are not recorded
  work(shared->result);
  shared->done.store(1, std::memory_order_release);
  raw_syscall(SYS_futex, reinterpret_cast<long>(&shared->done), FUTEX_WAKE, 1);
  for (;;) raw_syscall(SYS_exit_group, 0);
}

// True if the copy has done its work. The copy is gone in any case.
bool await_copy(long pid, Shared* shared) {
  bool is_gone = false;
  for (long waited_ms = 0; waited_ms < kPatienceMs && !is_gone; waited_ms += kLookMs) {
    if (shared->done.load(std::memory_order_acquire) != 0) break;
    sys_futex_wait(&shared->done, 0, kLookMs * 1'000'000);
    if (shared->done.load(std::memory_order_acquire) != 0) break;
    const long waited = raw_syscall(SYS_wait4, pid, 0, WNOHANG | __WCLONE, 0);
    is_gone = waited == pid || waited == -ECHILD;  // -ECHILD: another thread of the program waited for all children
  }
  const bool is_done = shared->done.load(std::memory_order_acquire) != 0;
  if (is_gone) return is_done;
  raw_syscall(SYS_kill, pid, SIGKILL);
  while (raw_syscall(SYS_wait4, pid, 0, __WCLONE, 0) == -EINTR) {
  }
  return is_done;
}

// True if children of this process begin a new PID namespace, or would be in another one than the process itself
// (unshare(2), setns(2)). The copy would be the first process there, and after its end no other could begin. If the
// namespace has no process yet, Linux does not let its link be read. Before Linux 4.12 there is no such link, and the
// answer is false.
bool has_other_namespace_for_children() {
  constexpr const char* kOwn = "/proc/thread-self/ns/pid";
  constexpr const char* kOfChildren = "/proc/thread-self/ns/pid_for_children";
  char own[64] = {}, of_children[64] = {}, facts[256];
  const auto read = [](const char* path, char(&text)[64]) {
    return !is_error(raw_syscall(SYS_readlinkat, AT_FDCWD, reinterpret_cast<long>(path), reinterpret_cast<long>(text),
                                 sizeof text - 1));
  };
  if (!read(kOwn, own)) return false;  // without /proc, the copy ends at once (protect_shared_memory)
  if (read(kOfChildren, of_children)) return strcmp(own, of_children) != 0;
  constexpr long kLinkItself = 0x100;  // AT_SYMLINK_NOFOLLOW
  return !is_error(raw_syscall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>(kOfChildren),
                               reinterpret_cast<long>(facts), kLinkItself));
}

}  // namespace

CopyEnd run_in_copy(void (*work)(void*), void* result, size_t result_bytes) {
  // A program that runs may wait for all of its children, of whatever kind (__WALL), in another thread.
  if (is_loaded_late() || has_other_namespace_for_children()) return CopyEnd::kNotMade;
  auto* shared = static_cast<Shared*>(sys_mmap(sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1));
  if (shared == nullptr) return CopyEnd::kNotMade;
  memcpy(shared->result, result, result_bytes);
  const long pid = raw_syscall(SYS_clone, 0, 0);
  if (pid == 0) be_copy(work, shared);
  CopyEnd end = CopyEnd::kNotMade;
  if (!is_error(pid)) end = await_copy(pid, shared) ? CopyEnd::kDone : CopyEnd::kDied;
  if (end == CopyEnd::kDone) memcpy(result, shared->result, result_bytes);
  sys_munmap(shared, sizeof(Shared));
  return end;
}

}  // namespace heapprof::agent
