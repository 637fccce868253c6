// tests/targets/attack/parts/processes.cc: children of every kind, each with books of its own, forked while other
// threads allocate and libraries go.
#include "../../keep.h"
#include "action.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace attack {

constexpr uint32_t kChildSites[] = {kSite_child_a, kSite_child_b, kSite_calloc_a, kSite_posix_a};
constexpr uint32_t kGrandchildSites[] = {kSite_grandchild, kSite_malloc_b};

long wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -2;
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

[[noreturn]] void end_child(int status) { _exit(status); }

pid_t plain_fork() { return fork(); }
pid_t locked_fork() {
  pthread_mutex_lock(&g_loader);
  const pid_t child = fork();
  pthread_mutex_unlock(&g_loader);
  return child;
}

long act_fork(Context& context, unsigned amount) {
  return in_child("fork", [&] {
    work(context, amount * 4, kChildSites, 4);
    return 21L;
  });
}

long act_fork_many(Context& context, unsigned amount) {
  pid_t children[16];
  for (unsigned i = 0; i < amount; ++i) {
    children[i] = start_child("fork_many", [&] {
      context.random.state += i;
      work(context, 20 + 10 * i, kChildSites, 4);
      return 30L + i;
    });
    work_heap(context, 5);
  }
  long sum = 0;
  for (unsigned i = 0; i < amount; ++i) sum = sum * 3 + (children[i] < 0 ? -1 : wait_for(children[i]));
  return sum;
}

namespace {
long live_and_fork(Context& context, unsigned generations) {
  work(context, 30, kGrandchildSites, 2);
  if (generations == 0) return 1;
  const long below = in_child("fork_again", [&] { return live_and_fork(context, generations - 1); });
  work(context, 10, kGrandchildSites, 2);
  return below + 1;
}
}  // namespace
long act_fork_again(Context& context, unsigned amount) {
  return in_child("fork_again", [&] { return live_and_fork(context, amount); });
}

long act_fork_killed(Context& context, unsigned amount) {
  return in_child("fork_killed", [&] {
    const uint32_t site = kSite_killed;
    work(context, amount * 4, &site, 1);
    kill(getpid(), SIGKILL);
    return 0L;
  });
}

// Past the handlers of pthread_atfork, and past libc altogether.
namespace {
pid_t fork_by_clone() {
  const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  return static_cast<pid_t>(child);
}
pid_t fork_without_handlers() { return _Fork(); }
}  // namespace
long act_fork_raw(Context& context, unsigned amount) {
  // Another thread may hold a lock of glibc's malloc, which nobody takes care of here.
  if (!g_start.has_own_malloc) return 21;
  return in_child(
      "fork_raw",
      [&] {
        work(context, amount * 4, kChildSites, 4);
        return 21L;
      },
      context.random.below(2) != 0 ? fork_by_clone : fork_without_handlers);
}

namespace {
struct ChildThread {
  pthread_t thread;
  uint64_t seed;
};
void* live_as_child_thread(void* argument) {
  Context context = {};
  context.random.state = static_cast<ChildThread*>(argument)->seed;
  work(context, 60, kGrandchildSites, 2);
  return nullptr;
}
}  // namespace
long act_fork_threads(Context& context, unsigned amount) {
  return in_child(
      "fork_threads",
      [&]() -> long {
        ChildThread threads[4];
        for (unsigned i = 0; i < amount; ++i) {
          threads[i].seed = context.random.next();
          if (pthread_create(&threads[i].thread, nullptr, live_as_child_thread, &threads[i]) != 0) return 99;
        }
        work(context, 40, kChildSites, 4);
        for (unsigned i = 0; i < amount; ++i) pthread_join(threads[i].thread, nullptr);
        return 22;
      },
      locked_fork);
}

long act_replace(Context& context, unsigned amount);
long act_fork_plugin(Context& context, unsigned amount) {
  return in_child(
      "fork_plugin", [&]() -> long { return act_replace(context, amount) == 0 ? 23 : 98; }, locked_fork);
}

// Another thread loads and unloads all the while; the children allocate, and leave the loader alone.
namespace {
struct Closer {
  std::atomic<bool> is_done{false};
  uint64_t seed = 0;
};
void* close_again_and_again(void* argument) {
  auto* closer = static_cast<Closer*>(argument);
  Context context = {};
  context.random.state = closer->seed;
  // Not for ever: heapprof knows of some thousand objects in a process.
  for (int round = 0; round < 250 && !closer->is_done; ++round)
    if (act_replace(context, 3) != 0) return argument;
  return nullptr;
}
}  // namespace
long act_fork_closing(Context& context, unsigned amount) {
  Closer closer;
  closer.seed = context.random.next();
  pthread_t thread;
  if (pthread_create(&thread, nullptr, close_again_and_again, &closer) != 0) return -1;
  long wrong = 0;
  for (unsigned i = 0; i < amount * 4; ++i) {
    const long status = in_child("fork_closing", [&] {
      work(context, 10, kChildSites, 4);
      return 24L;
    });
    if (status != 24) wrong = status;
  }
  closer.is_done = true;
  void* failed = nullptr;
  pthread_join(thread, &failed);
  return failed != nullptr ? -2 : wrong;
}

KEEP_FRAME static long vfork_and_exit() {
  const pid_t child = vfork();
  if (child == 0) _exit(5);
  return child < 0 ? -1 : wait_for(child);
}
long act_vfork_exit(Context& context, unsigned amount) {
  long sum = 0;
  for (unsigned i = 0; i < amount; ++i) {
    work_heap(context, 4);
    sum += vfork_and_exit();
  }
  return sum;
}

}  // namespace attack
