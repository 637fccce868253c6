// tests/targets/attack/parts/limits.cc: what a program forbids itself: system calls, descriptors, resources.
//
// What lasts is done in a child; a child forked under a filter has no profile (agent/README.md, "Signals, forks, dying
// threads").
#include "../../keep.h"
#include "action.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace attack {

pid_t locked_fork();

namespace {
constexpr uint32_t kFilteredSites[] = {kSite_filtered_a, kSite_filtered_b};

struct Worker {
  uint64_t seed;
  unsigned operations;
};
void* work_in_thread(void* argument) {
  const auto* worker = static_cast<Worker*>(argument);
  Context context = {};
  context.random.state = worker->seed;
  work(context, worker->operations, kFilteredSites, 2);
  return nullptr;
}
bool work_in_new_thread(Context& context, unsigned operations) {
  Worker worker = {context.random.next(), operations};
  pthread_t thread;
  if (pthread_create(&thread, nullptr, work_in_thread, &worker) != 0) return false;
  pthread_join(thread, nullptr);
  return true;
}

bool install(sock_filter* code, size_t length, bool by_prctl) {
  sock_fprog program = {static_cast<unsigned short>(length), code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (by_prctl) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}
bool install_allowing(bool by_prctl) {
  sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  return install(code, 1, by_prctl);
}
// What this program natively needs to allocate, to fork, to wait and to end.
bool install_killing(bool by_prctl) {
  static const unsigned kCalls[] = {SYS_mmap,  SYS_munmap, SYS_mremap,          SYS_mprotect,     SYS_madvise,
                                    SYS_brk,   SYS_exit,   SYS_exit_group,      SYS_futex,        SYS_clone,
                                    SYS_wait4, SYS_rseq,   SYS_set_robust_list, SYS_rt_sigreturn, SYS_rt_sigprocmask};
  constexpr size_t kCount = sizeof(kCalls) / sizeof(kCalls[0]);
  sock_filter code[2 * kCount + 2];
  size_t at = 0;
  code[at++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (const unsigned call : kCalls) {
    code[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    code[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  code[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  return install(code, at, by_prctl);
}
}  // namespace

// No filter comes of it, and so nothing may change.
long act_filter_refused(Context& context, unsigned amount) {
  sock_fprog nothing = {0, nullptr};
  sock_fprog unreadable = {1, reinterpret_cast<sock_filter*>(16)};
  long sum = 0;
  switch (context.random.below(4)) {
    case 0: sum += prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &nothing); break;
    case 1: sum += prctl(PR_SET_SECCOMP, 77, &nothing); break;
    case 2: sum += syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &unreadable); break;
    default: sum += syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nullptr); break;
  }
  if (sum != -1) return -2;
  work(context, amount, kFilteredSites, 2);
  if (!work_in_new_thread(context, amount)) return -3;
  return in_child("filter_refused", [&] {
    work(context, 20, kFilteredSites, 2);
    return 51L;
  });
}

long act_filter_kills_fork(Context& context, unsigned amount) {
  const bool by_prctl = context.random.below(2) != 0;
  return in_child("filter_kills_fork", [&]() -> long {
    work(context, amount, kFilteredSites, 2);
    if (!install_killing(by_prctl)) return 99;
    work(context, amount, kFilteredSites, 2);
    const uint32_t index = claim_book("filtered child");
    book(index)->excuses = kExcuseProfile | kExcuseIncomplete;
    const pid_t child = fork();
    if (child == 0) {
      enter_book(index);
      work(context, amount, kFilteredSites, 2);
      _exit(52);
    }
    book(index)->pid = child;
    const long status = child < 0 ? 98 : wait_for(child);
    return status == 52 ? 53 : 97;
  });
}

namespace {
void* filter_this_thread(void* argument) {
  work_in_thread(argument);
  const bool installed = install_allowing(static_cast<Worker*>(argument)->seed % 2 != 0);
  work_in_thread(argument);
  return installed ? argument : nullptr;
}
}  // namespace
// A filter is one thread's, and its own end; those that come later have none.
long act_filter_in_thread(Context& context, unsigned amount) {
  return in_child(
      "filter_in_thread",
      [&]() -> long {
        work(context, amount, kFilteredSites, 2);
        Worker worker = {context.random.next(), amount};
        pthread_t thread;
        void* result = nullptr;
        if (pthread_create(&thread, nullptr, filter_this_thread, &worker) != 0) return 99;
        pthread_join(thread, &result);
        if (result == nullptr) return 98;
        for (unsigned i = 0; i < 4; ++i)
          if (!work_in_new_thread(context, amount)) return 97;
        return 54;
      },
      locked_fork);
}

long act_filter_accepted(Context& context, unsigned amount) {
  const bool by_prctl = context.random.below(2) != 0, in_threads = context.random.below(2) != 0;
  return in_child(
      "filter_accepted",
      [&]() -> long {
        work(context, amount, kFilteredSites, 2);
        if (!install_allowing(by_prctl)) return 99;
        work(context, amount * 3, kFilteredSites, 2);
        if (!in_threads) return 55;
        excuse(kExcuseIncomplete);  // threads that allocate for the first time under a filter
        return work_in_new_thread(context, amount) ? 56 : 98;
      },
      locked_fork);
}

long act_closes_descriptors(Context& context, unsigned amount) {
  const bool before = context.random.below(2) != 0;
  return in_child("closes_descriptors", [&]() -> long {
    const uint32_t site = kSite_closed;
    if (!before) work(context, amount, &site, 1);
    if (syscall(SYS_close_range, 3, ~0U, 0) != 0) return 99;
    const int first = open("/dev/null", O_RDWR), second = dup(first);
    work(context, amount, &site, 1);
    if (first != 3 || second != 4 || fcntl(first, F_GETFD) != 0 || write(second, "x", 1) != 1) return 98;
    if (dup2(first, 5) != 5) return 97;
    const long below = in_child("closes_descriptors child", [&] {
      work(context, amount, &site, 1);
      return 57L;
    });
    work(context, amount, &site, 1);
    return fcntl(5, F_GETFD) == 0 && below == 57 ? 58 : 96;
  });
}

long act_limits(Context& context, unsigned amount) {
  const uint32_t kind = context.random.below(4);
  return in_child("limits", [&]() -> long {
    const uint32_t site = kSite_closed;
    work(context, amount, &site, 1);
    constexpr int kKinds[] = {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CORE, RLIMIT_MEMLOCK};
    const rlimit limit = {kind == 0 ? 3U : 0U, kind == 0 ? 3U : 0U};
    if (setrlimit(kKinds[kind], &limit) != 0) return 99;
    work(context, amount, &site, 1);
    const uint32_t index = claim_book("limits child");
    if (kind == 0) book(index)->excuses = kExcuseProfile;  // no descriptor to be had: tests/HAZARDS.md, "Limits"
    const pid_t child = fork();
    if (child == 0) {
      enter_book(index);
      work(context, amount, &site, 1);
      _exit(59);
    }
    book(index)->pid = child;
    return child < 0 ? 98 : wait_for(child) == 59 ? 60 : 97;
  });
}

}  // namespace attack
