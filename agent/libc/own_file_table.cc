// agent/libc/own_file_table.cc: makes a task of this process that shares everything with the thread that made it,
// except the files.
//
// A process of one thread needs no such task: with its signals blocked, no other code can use its table. This covers
// most starts (before main), and an exec in a child that has just been made. The link count of /proc/self/task gives
// the number of threads; reading it (stat) needs no descriptor. But POSIX record locks belong to a table: closing a
// file in a table releases all locks that the table has on that file. A program may have such a lock on the very
// executable that it starts.
//
// The task is made as by vfork: it runs below its maker's frame, on the same stack, while the maker sleeps. It is a
// thread of the process (CLONE_THREAD), so no SIGCHLD, wait() or pid reveals it. It gets its own table with
// close_range(CLOSE_RANGE_UNSHARE), which does not copy the files that it is to close. A full copy would take time for
// every open file, and closing the copy would flush those files. Before Linux 5.9, the table has to be such a full
// copy.
//
// The kernel wakes the maker when the task has released the memory, shortly before the task has ended. The maker then
// waits until the task has ended, too, because some system calls (unshare of a user namespace) work only in a process
// with one thread.
//
// Tried and rejected: unshare(CLONE_FILES) in the thread itself, because it can never be undone.
#include "agent/libc/own_file_table.h"

#include "agent/libc/raw.h"
#include "agent/libc/valgrind.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/stat.h>

#include <atomic>

namespace heapprof::agent {

namespace {

constexpr long kTaskFlags = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_FS | CLONE_VFORK;
constexpr int kMostYields = 20;
constexpr int kMostSleeps =
    200;  // each sleep takes 50 µs; under a debugger the task ends only when the debugger lets it

// 1: close_range could not give the task a table of its own, so from now on clone copies the table.
std::atomic<uint32_t> g_copies_table{0};

struct Visit {
  FileAction action;
  void* argument;
  int kept_fd;
  bool is_copy;
  bool has_run;
};

bool is_only_thread() {
  constexpr nlink_t kLinksOfFolder = 2;
  struct stat facts;
  const long result = raw_syscall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>("/proc/self/task"),
                                  reinterpret_cast<long>(&facts), 0);
  return !is_error(result) && facts.st_nlink == kLinksOfFolder + 1;
}

// Moves the task from the program's table to one of its own, which holds only kept_fd.
bool leave_table(int kept_fd) {
  const auto first = static_cast<long>(kept_fd + 1);
  if (is_error(raw_syscall(SYS_close_range, first, ~0u, CLOSE_RANGE_UNSHARE))) return false;
  if (kept_fd > 0) raw_syscall(SYS_close_range, 0, kept_fd - 1, 0);
  return true;
}

// Runs on the task.
void visit(void* argument) {
  auto* const one = static_cast<Visit*>(argument);
  if (one->is_copy) {
    for (int fd = 0; fd < 3; ++fd) {  // makes room in a full table
      if (fd != one->kept_fd) sys_close(fd);
    }
  } else if (!leave_table(one->kept_fd)) {
    return;
  }
  one->action(one->argument);
  one->has_run = true;
}

void wait_until_gone(int task) {
  const int process = sys_getpid();
  const timespec sleep_time{0, 50'000};
  for (int i = 0; i < kMostYields + kMostSleeps; ++i) {
    if (is_error(raw_syscall(SYS_tgkill, process, task, 0))) return;
    if (i < kMostYields) {
      sys_yield();
    } else {
      // a yield may not let a task of lower priority run
      raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&sleep_time), 0);
    }
  }
}

}  // namespace

bool run_unseen(FileTable table, int kept_fd, FileAction action, void* argument) {
  const SignalsBlocked blocked;
  if (table == FileTable::kUnseen && is_only_thread() && action(argument)) return true;
  if (is_in_valgrind()) return false;  // Valgrind cannot make such a task
  Visit one{action, argument, kept_fd, false, false};
  for (int i = 0; i < 2 && !one.has_run; ++i) {
    one.is_copy = g_copies_table.load(std::memory_order_relaxed) != 0;
    const long task = run_task_on_own_stack(one.is_copy ? kTaskFlags : kTaskFlags | CLONE_FILES, visit, &one);
    if (is_error(task)) return false;
    wait_until_gone(static_cast<int>(task));
    if (!one.has_run) g_copies_table.store(1, std::memory_order_relaxed);
  }
  return one.has_run;
}

}  // namespace heapprof::agent
