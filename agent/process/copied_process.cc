// agent/process/copied_process.cc: a raw clone, which is a fork without libc: no handler of pthread_atfork runs, and
// libc's idea of the thread stays that of the original, so that locks which this thread holds are its own there, too.
//
// An exit signal of 0 makes the copy a child that only __WCLONE waits for.
#include "agent/process/copied_process.h"

#include "agent/libc/raw.h"
#include "agent/process/state.h"

#include <errno.h>
#include <linux/wait.h>
#include <string.h>
#include <sys/prctl.h>

#include <atomic>

namespace heapprof::agent {

namespace {

constexpr long kPatienceMs = 2000;
constexpr long kLookMs = 5;  // how often is looked whether the copy has died

struct Shared {
  std::atomic<uint32_t> done;
  alignas(16) unsigned char result[kMostCopiedBytes];
};
static_assert(sizeof(Shared) <= 4096);

// The allocator may open files and say things. Before Linux 5.9 only the first ones are closed.
void close_files() {
  constexpr int kFirst = 256;
  if (!is_error(raw_syscall(SYS_close_range, 0, ~0u, 0))) return;
  for (int fd = 0; fd < kFirst; ++fd) sys_close(fd);
}

[[noreturn]] void be_copy(void (*work)(void*), Shared* shared) {
  raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 0);
  close_files();
  g_fork_page.state = AgentState::kOff;  // threads that the allocator starts here are nobody's
  work(shared->result);
  shared->done.store(1, std::memory_order_release);
  raw_syscall(SYS_futex, reinterpret_cast<long>(&shared->done), FUTEX_WAKE, 1);
  for (;;) raw_syscall(SYS_exit_group, 0);
}

// True if the copy has done its work; in any case it is gone.
bool await_copy(long pid, Shared* shared) {
  bool is_gone = false;
  for (long waited_ms = 0; waited_ms < kPatienceMs && !is_gone; waited_ms += kLookMs) {
    if (shared->done.load(std::memory_order_acquire) != 0) break;
    sys_futex_wait(&shared->done, 0, kLookMs * 1'000'000);
    if (shared->done.load(std::memory_order_acquire) != 0) break;
    const long waited = raw_syscall(SYS_wait4, pid, 0, WNOHANG | __WCLONE, 0);
    is_gone = waited == pid || waited == -ECHILD;  // another thread of the program waits for everybody
  }
  const bool is_done = shared->done.load(std::memory_order_acquire) != 0;
  if (is_gone) return is_done;
  raw_syscall(SYS_kill, pid, SIGKILL);
  while (raw_syscall(SYS_wait4, pid, 0, __WCLONE, 0) == -EINTR) {
  }
  return is_done;
}

}  // namespace

CopyEnd run_in_copy(void (*work)(void*), void* result, size_t result_bytes) {
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
