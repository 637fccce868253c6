// tests/targets/inside/asks_on.cc: asks for its statistics where that is hard.
//
//   asks_on loop        asks for as long as it is answered; says how long the last question took, and when it is
//                       answered again
//   asks_on handlers    handlers interrupt allocations and questions, and ask
//   asks_on jumps       handlers jump out of questions that wait
//   asks_on forks       children ask before and after their first allocation, also from within a handler
//   asks_on returns     handlers fork while the interrupted code waits for an answer, and the children return into it
//   asks_on unseen      blocks end past the hooks, and others begin at their addresses
//   asks_on cancels     threads are cancelled while they ask
//   asks_on filtered    under a filter of system calls that kills for a futex
#include <dlfcn.h>
#include <heapprof/heapprof.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<uint64_t> g_given{0};
std::atomic<uint64_t> g_refused{0};
sigjmp_buf g_before;
volatile sig_atomic_t g_may_jump = 0;
void* volatile keep_live = nullptr;

uint64_t now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

void start_timer(long interval_us, const struct sigaction& action) {
  sigaction(SIGALRM, &action, nullptr);
  const itimerval timer = {{0, interval_us}, {0, interval_us}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void set_timer(long interval_us, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  start_timer(interval_us, action);
}

void stop_timer() {
  const itimerval none{};
  setitimer(ITIMER_REAL, &none, nullptr);
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  _exit(1);
}

void loop() {
  std::puts("go");
  std::fflush(stdout);
  for (;;) {
    heapprof_stats stats;
    const uint64_t start_ms = now_ms();
    const int result = heapprof_get_stats("host", &stats);
    if (result == HEAPPROF_OK) continue;
    std::printf("%d after %s\n", result, now_ms() - start_ms < 7500 ? "a moment" : "an age");
    std::fflush(stdout);
    const uint64_t end_ms = now_ms() + 30'000;
    while (now_ms() < end_ms) {
      if (heapprof_get_stats("host", &stats) != HEAPPROF_OK) continue;
      std::puts("and again");
      return;
    }
    return;
  }
}

void ask_in_handler(int) {
  heapprof_stats stats;
  const int result = heapprof_get_stats("host", &stats);
  ++(result == HEAPPROF_OK ? g_given : g_refused);
  if (result != HEAPPROF_OK && result != HEAPPROF_UNAVAILABLE) fail("an answer that cannot be");
}

void handlers() {
  set_timer(300, ask_in_handler);
  const uint64_t end_ms = now_ms() + 2000;
  while (now_ms() < end_ms) {
    for (int i = 0; i < 200; ++i) free(malloc(1235));
    ask_in_handler(0);
  }
  stop_timer();
  if (g_given == 0) fail("nobody was answered");
}

void jump(int) {
  if (g_may_jump == 0) return;
  g_may_jump = 0;
  siglongjmp(g_before, 1);
}

void jumps() {
  set_timer(700, jump);
  static int left = 0;
  static int round = 0;
  for (; round < 300 && left < 60; ++round) {
    heapprof_stats stats;
    if (sigsetjmp(g_before, 1) == 0) {
      g_may_jump = 1;
      heapprof_get_stats("host", &stats);
      g_may_jump = 0;
    } else {
      ++left;
    }
  }
  stop_timer();
  if (left < 30) fail("no question was left");
  // Their slots come back.
  const uint64_t end_ms = now_ms() + 30'000;
  heapprof_stats stats;
  while (heapprof_get_stats("host", &stats) != HEAPPROF_OK) {
    if (now_ms() > end_ms) fail("no slot came back");
  }
}

void expect_child(bool allocates) {
  heapprof_stats before;
  heapprof_stats after;
  if (allocates) free(malloc(1));
  if (heapprof_is_active() != 1) fail("a child without a profiler");
  if (heapprof_get_stats("host", &before) != HEAPPROF_OK) fail("a child is not answered");
  char* volatile block = static_cast<char*>(malloc(1235));
  if (heapprof_get_stats("host", &after) != HEAPPROF_OK) fail("a child is not answered again");
  if (block == nullptr || after.live_bytes - before.live_bytes != 1235) fail("a child's numbers");
  if (after.total_bytes > 100'000) fail("a child's numbers are its parent's");
  _exit(0);
}

void expect_ok(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) fail("a child failed");
}

void fork_in_handler(int) {
  stop_timer();
  const pid_t child = fork();
  if (child == 0) {
    heapprof_stats stats;
    for (int i = 0; i < 3; ++i) heapprof_get_stats("host", &stats);  // it may have interrupted an event: no answer then
    _exit(0);
  }
  expect_ok(child);
}

void forks() {
  for (int i = 0; i < 200'000; ++i) free(malloc(64));
  for (const bool allocates : {false, true}) {
    const pid_t child = fork();
    if (child == 0) expect_child(allocates);
    expect_ok(child);
  }
  for (int i = 0; i < 30; ++i) {
    set_timer(200 + i * 37, fork_in_handler);
    heapprof_stats stats;
    for (int k = 0; k < 5; ++k) {
      if (heapprof_get_stats("host", &stats) != HEAPPROF_OK) fail("a parent is not answered");
      for (int n = 0; n < 500; ++n) free(malloc(1235));
    }
    stop_timer();
  }
}

volatile sig_atomic_t g_is_child = 0;

int g_children = 0;

// True if the signal interrupted a system call that the agent makes for a question. All of these come before the
// agent's last look at whether it is still in the process that asked. Later the answer is complete, and a child may
// return it.
bool is_asking(const ucontext_t& interrupted) {
  const auto* const code = reinterpret_cast<const unsigned char*>(interrupted.uc_mcontext.gregs[REG_RIP]);
  if (code[-2] != 0x0f || code[-1] != 0x05) return false;  // syscall
  Dl_info module{};
  return dladdr(code, &module) != 0 && std::strstr(module.dli_fname, "libheapprof") != nullptr;
}

void fork_and_return(int, siginfo_t*, void* context) {
  if (!is_asking(*static_cast<const ucontext_t*>(context))) return;
  stop_timer();
  ++g_children;
  const pid_t child = fork();
  if (child == 0) g_is_child = 1;
  if (child > 0) expect_ok(child);
}

void returns() {
  keep_live = malloc(12'000'000);
  struct sigaction action {};
  action.sa_sigaction = fork_and_return;
  action.sa_flags = SA_SIGINFO;
  for (int i = 0; i < 60; ++i) {
    start_timer(150 + i * 29, action);
    for (int k = 0; k < 5; ++k) {
      heapprof_stats stats;
      const int result = heapprof_get_stats("host", &stats);
      if (g_is_child != 0) _exit(result == HEAPPROF_OK && stats.live_bytes >= 12'000'000 ? 1 : 0);
      if (result != HEAPPROF_OK) fail("a parent is not answered");
    }
    stop_timer();
  }
  free(keep_live);
  if (g_children == 0) fail("no question was interrupted");
}

void* nothing(void*) {
  free(malloc(10));
  return nullptr;
}

void unseen() {
  pthread_t thread;
  pthread_create(&thread, nullptr, nothing, nullptr);
  pthread_join(thread, nullptr);
  using Free = void (*)(void*);
  const auto real_free = reinterpret_cast<Free>(dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), "free"));
  int same = 0;
  for (int i = 0; i < 20; ++i) {
    heapprof_stats before;
    heapprof_stats after;
    char* volatile first = static_cast<char*>(malloc(5000));
    real_free(first);
    heapprof_get_stats("host", &before);
    char* volatile second = static_cast<char*>(malloc(5000));
    heapprof_get_stats("host", &after);
    same += first == second ? 1 : 0;
    if (after.total_blocks - before.total_blocks != 1) fail("a block is missing");
    free(second);
  }
  if (same == 0) fail("no address came back");
}

void* ask_for_ever(void*) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  for (;;) {
    heapprof_thread_stats stats;
    heapprof_get_thread_stats(&stats);
  }
}

void cancels() {
  for (int i = 0; i < 60; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, ask_for_ever, nullptr);
    usleep(2000);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  const uint64_t end_ms = now_ms() + 30'000;
  heapprof_stats stats;
  while (heapprof_get_stats("host", &stats) != HEAPPROF_OK) {
    if (now_ms() > end_ms) fail("no slot came back");
  }
}

void filtered() {
  heapprof_stats stats;
  if (heapprof_get_stats("host", &stats) != HEAPPROF_OK) fail("it was not answered before");
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_yield, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof rules / sizeof rules[0], rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
    _exit(77);
  for (int i = 0; i < 100; ++i) {
    if (heapprof_get_stats("host", &stats) != HEAPPROF_UNAVAILABLE) fail("an answer under a filter");
    free(malloc(1235));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "loop") == 0) loop();
  if (std::strcmp(what, "handlers") == 0) handlers();
  if (std::strcmp(what, "jumps") == 0) jumps();
  if (std::strcmp(what, "forks") == 0) forks();
  if (std::strcmp(what, "returns") == 0) returns();
  if (std::strcmp(what, "unseen") == 0) unseen();
  if (std::strcmp(what, "cancels") == 0) cancels();
  if (std::strcmp(what, "filtered") == 0) filtered();
  std::puts("done");
  return 0;
}
