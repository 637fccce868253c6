// tests/targets/limits/thread_filters.cc: filters of system calls (seccomp) that are refused, and such as reach one
// thread, and those that it creates, or all.
//
// usage: thread_filters CASE
//   einval, efault, eacces, tsync, strict   a request that the kernel refuses; then the program goes on: the main
//            thread, a new one, a forked child
//   own      one thread filters itself and creates 3 more; then others go on that existed, 8 come at once, 40 come in
//            turn, and the main thread forks
//   all      the main thread filters all threads; then others go on that existed, 8 come at once, 40 in turn
// The filter kills for everything that the C library does not do itself for threads and allocations. Prints what the
// refused request gave: its result's sign and errno.
#include "../keep.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

namespace {

void allocate(size_t size_bytes, int count) {
  for (int i = 0; i < count; ++i) {
    void* block = keep(malloc(size_bytes));
    if (i % 2 == 0) free(block);
  }
}
KEEP_FRAME void allocate_main(int count) { allocate(1001, count), keep(nullptr); }
KEEP_FRAME void allocate_existing(int count) { allocate(1003, count), keep(nullptr); }
KEEP_FRAME void allocate_filtered(int count) { allocate(1005, count), keep(nullptr); }
KEEP_FRAME void allocate_inherited(int count) { allocate(1007, count), keep(nullptr); }
KEEP_FRAME void allocate_later(int count) { allocate(1009, count), keep(nullptr); }
KEEP_FRAME void allocate_in_turn(int count) { allocate(1011, count), keep(nullptr); }
KEEP_FRAME void allocate_child(int count) { allocate(1013, count), keep(nullptr); }

// What libc calls to create and end a thread, to allocate, and to end the process.
const unsigned kLibc[] = {SYS_write,  SYS_futex,          SYS_exit,   SYS_exit_group,      SYS_clone,
                          SYS_clone3, SYS_mmap,           SYS_munmap, SYS_mprotect,        SYS_madvise,
                          SYS_brk,    SYS_rt_sigprocmask, SYS_rseq,   SYS_set_robust_list, SYS_sched_getaffinity};

std::vector<sock_filter> make_filter(bool allows_all) {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned call : kLibc) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, allows_all ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS));
  return code;
}

long install(bool allows_all, unsigned flags) {
  static std::vector<sock_filter> code;
  code = make_filter(allows_all);
  sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

// Threads that run `function` at once: each waits until all do.
void run_at_once(int count, void (*function)(int), int argument) {
  struct Task {
    void (*function)(int);
    int argument, count;
    std::atomic<int> running;
  } task = {function, argument, count, {}};
  pthread_t threads[16];
  for (int i = 0; i < count; ++i) {
    const int error = pthread_create(
        &threads[i], nullptr,
        [](void* data) -> void* {
          auto* mine = static_cast<Task*>(data);
          mine->running.fetch_add(1);
          while (mine->running.load() < mine->count) {
          }
          mine->function(mine->argument);
          return nullptr;
        },
        &task);
    if (error != 0) _exit(10);
  }
  for (int i = 0; i < count; ++i) pthread_join(threads[i], nullptr);
}

std::atomic<int> g_stage{0};
void wait_for(int stage) {
  while (g_stage.load() < stage) {
  }
}

pthread_t start(void* (*function)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, function, nullptr) != 0) _exit(11);
  return thread;
}

void* exist(void*) {
  allocate_existing(10);
  g_stage.fetch_add(1);
  wait_for(3);
  allocate_existing(100);
  return nullptr;
}

void* filter_itself(void*) {
  allocate_filtered(10);
  wait_for(1);
  if (install(false, 0) != 0) _exit(12);
  g_stage.store(2);
  wait_for(3);
  allocate_filtered(100);
  run_at_once(3, allocate_inherited, 10);
  return nullptr;
}

void fork_a_child() {
  const pid_t child = fork();
  if (child == 0) {
    allocate_child(10);
    _exit(5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 5 << 8) _exit(13);
}

void go_on() {
  run_at_once(8, allocate_later, 10);
  for (int i = 0; i < 40; ++i) run_at_once(1, allocate_in_turn, 10);
  allocate_main(100);
}

long refuse(const std::string& how) {
  static sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  static sock_fprog program = {1, allow};
  if (how == "efault") return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 1);
  if (how == "eacces") {
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    if (syscall(SYS_capset, &header, none) != 0) _exit(14);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  }
  if (how == "einval") return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1u << 30, &program);
  if (how == "strict") {  // not after a filter
    if (install(true, 0) != 0) _exit(12);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  }
  // A thread with a filter that this one does not have cannot be reached.
  start([](void*) -> void* {
    if (install(true, 0) != 0) _exit(12);
    g_stage.store(1);
    for (;;) pause();
  });
  wait_for(1);
  return install(true, SECCOMP_FILTER_FLAG_TSYNC);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string what = argv[1];
  allocate_main(10);
  if (what == "own" || what == "all") {
    const pthread_t existing = start(exist);
    const pthread_t filtered = what == "own" ? start(filter_itself) : pthread_t{};
    if (what == "all") {
      wait_for(1);
      if (install(false, SECCOMP_FILTER_FLAG_TSYNC) != 0) return 12;
    }
    if (what == "own") wait_for(2);
    g_stage.store(3);
    go_on();
    pthread_join(existing, nullptr);
    if (what == "own") {
      pthread_join(filtered, nullptr);
      fork_a_child();
    }
  } else {
    errno = 0;
    const long result = refuse(what);
    const int error = errno;
    char text[64];
    const int length = snprintf(text, sizeof text, "%d %d\n", result < 0 ? -1 : result > 0, error);
    if (write(1, text, static_cast<size_t>(length)) != length) return 7;
    go_on();
    fork_a_child();
  }
  _exit(0);
}
