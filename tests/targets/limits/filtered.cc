// tests/targets/limits/filtered.cc: installs a seccomp filter that kills the process at the first system call outside
// of a list, by the way that argv[1] names (prctl, syscall, raw: an instruction of its own), and then does what argv[2]
// says.
//   busy N     N pairs of malloc and free of 1235 bytes, more than a ring holds; N blocks more stay: exit status 0
//   thread     a thread that existed before, but never allocated, allocates 10 blocks of 1236 bytes
//   fork       a forked child allocates 10 blocks of 1237 bytes (fork and waiting for it are allowed)
//   exec PROG  becomes PROG; only socket(), connect() and the like kill
//   probe      asks in the ways in which libraries find out what there is, which installs nothing; then a new thread's
//              10 blocks
//   strict     seccomp's strict mode, which forbids the time stamp counter too, then pairs as in busy
#include "../keep.h"

#include <errno.h>
#include <linux/audit.h>
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

KEEP_FRAME void allocate_pairs(long count) {
  for (long i = 0; i < count; ++i) free(keep(malloc(1235)));
}
KEEP_FRAME void allocate_in_thread() {
  for (int i = 0; i < 10; ++i) keep(malloc(1236));
}
KEEP_FRAME void allocate_in_child() {
  for (int i = 0; i < 10; ++i) keep(malloc(1237));
}

std::vector<sock_filter> make_filter(const std::vector<unsigned>& calls, bool allow_listed) {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  const unsigned listed = allow_listed ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS;
  const unsigned others = allow_listed ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW;
  for (const unsigned call : calls) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, listed));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, others));
  return code;
}

long raw_prctl(long option, long second, long third) {
  long result;
  asm volatile("xorl %%r10d, %%r10d\nxorl %%r8d, %%r8d\nsyscall"
               : "=a"(result)
               : "a"(SYS_prctl), "D"(option), "S"(second), "d"(third)
               : "rcx", "r11", "r10", "r8", "memory");
  return result;
}

bool install(const std::string& how, std::vector<sock_filter> code) {
  sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (how == "prctl") return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  if (how == "syscall") return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
  return raw_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, reinterpret_cast<long>(&program)) == 0;
}

std::atomic<int> g_stage{0};  // 1: the thread runs, 2: the filter is there, 3: the thread has allocated
void* wait_and_allocate(void*) {
  g_stage.store(1);
  while (g_stage.load() != 2) {
  }
  allocate_in_thread();
  g_stage.store(3);
  for (;;) {
  }
}

const std::vector<unsigned> kStrict = {SYS_write,   SYS_mmap, SYS_munmap, SYS_mremap,    SYS_mprotect,
                                       SYS_madvise, SYS_brk,  SYS_exit,   SYS_exit_group};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string how = argv[1], what = argv[2];
  allocate_pairs(1);
  if (what == "probe") {
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, nullptr) == 0) return 3;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nullptr) == 0) return 3;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) == 0) return 3;
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          allocate_in_thread();
          return nullptr;
        },
        nullptr);
    pthread_join(thread, nullptr);
  } else if (what == "strict") {
    if (how == "prctl" ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0
                       : syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, nullptr) != 0)
      return 3;
    allocate_pairs(1000);
    static const char kDone[] = "done\n";
    if (write(1, kDone, sizeof kDone - 1) < 0) return 7;
    syscall(SYS_exit, 0);
  } else if (what == "busy") {
    if (!install(how, make_filter(kStrict, true))) return 3;
    allocate_pairs(argc > 3 ? atol(argv[3]) : 1000);
  } else if (what == "thread") {
    pthread_t thread;
    pthread_create(&thread, nullptr, wait_and_allocate, nullptr);
    while (g_stage.load() != 1) {
    }
    std::vector<sock_filter> code = make_filter(kStrict, true);
    sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) return 3;
    g_stage.store(2);
    while (g_stage.load() != 3) {
    }
  } else if (what == "fork") {
    std::vector<unsigned> calls = kStrict;
    for (const unsigned call :
         {SYS_clone, SYS_wait4, SYS_set_robust_list, SYS_rseq, SYS_getpid, SYS_gettid, SYS_rt_sigprocmask})
      calls.push_back(call);
    if (!install(how, make_filter(calls, true))) return 3;
    const pid_t child = fork();
    if (child == 0) {
      allocate_in_child();
      _exit(5);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 5 << 8) return 4;
  } else if (what == "exec" && argc > 3) {
    if (!install(how, make_filter({SYS_socket, SYS_connect, SYS_memfd_create, SYS_membarrier}, false))) return 3;
    execv(argv[3], argv + 3);
    return 6;
  } else {
    return 2;
  }
  static const char kDone[] = "done\n";
  if (write(1, kDone, sizeof kDone - 1) < 0) return 7;
  _exit(0);
}
