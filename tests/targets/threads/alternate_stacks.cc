// tests/targets/threads/alternate_stacks.cc: two timers of high rate interrupt one thread that allocates all the time;
// their handlers allocate, too, and interrupt each other.
//
// usage: alternate_stacks plain|alternate|autodisarm returns|jumps above|below|inside|main none|filter HANDLER_RUNS
// The first word says on which stack handlers run: the thread's own, an alternate one, an alternate one that the kernel
// forgets while a handler runs on it (SS_AUTODISARM). `jumps`: every handler leaves by siglongjmp, out of those that it
// interrupted as well. The third word says where the alternate stack lies: next to that of the thread, in the thread's
// own stack, or in the program's data, where the thread is the main one. `filter`: from half of the time on every
// system call kills that this program does not make itself.
// Prints "MAIN_BEGUN MAIN_DONE HANDLER_BEGUN HANDLER_DONE JUMPS": calls of malloc that began and that returned.
#include "../keep.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static constexpr size_t kAlternateBytes = 65536, kStackBytes = 262144;

static volatile uint64_t g_main_begun, g_main_done, g_handler_begun, g_handler_done, g_jumps;
static bool g_jump, g_filter;
static sigset_t g_both;
static uint64_t g_runs;
static const char* g_delivery;
static const char* g_place;
static sigjmp_buf g_target;
static char g_static_stack[kAlternateBytes];
static char* g_alternate;
static char* g_area;              // alternate stack, the thread's stack, alternate stack
static volatile bool g_may_jump;  // g_target is whole, and its frame is there
static volatile bool g_is_over;

// In one instruction: the other handler may count in between.
static void count(volatile uint64_t& number) { __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED); }

extern "C" KEEP_FRAME void allocate_in_handler(int) {
  if (g_is_over) return;
  count(g_handler_begun);
  void* block = keep(malloc(37));
  count(g_handler_done);
  free(block);
  if (!g_jump || !g_may_jump) return;
  count(g_jumps);
  siglongjmp(g_target, 1);
}

KEEP_FRAME void allocate_in_main(unsigned depth) {
  if (depth > 0) return allocate_in_main(depth - 1), (void)keep(nullptr);
  count(g_main_begun);
  void* block = keep(malloc(35));
  count(g_main_done);
  free(block);
}

static void use_stack() {
  if (strcmp(g_delivery, "plain") == 0) return;
  stack_t other = {};
  other.ss_sp = g_alternate;
  other.ss_size = kAlternateBytes;
  other.ss_flags = strcmp(g_delivery, "autodisarm") == 0 ? static_cast<int>(SS_AUTODISARM) : 0;
  if (sigaltstack(&other, nullptr) != 0) _exit(3);
}

static void install_filter() {
  // What the program makes itself from here on.
  static const unsigned kAllowed[] = {SYS_write, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_sigaltstack, SYS_exit_group};
  static sock_filter code[2 * sizeof kAllowed / sizeof kAllowed[0] + 2];
  unsigned short count = 0;
  code[count++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (const unsigned call : kAllowed) {
    code[count++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    code[count++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  code[count++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  sock_fprog program = {count, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(4);
}

static void start_timer(int signal, long interval_ns) {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer;
  const itimerspec times = {{0, interval_ns}, {0, interval_ns}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &times, nullptr) != 0) _exit(5);
}

KEEP_FRAME void work_until(uint64_t runs) {
  if (sigsetjmp(g_target, 0) != 0) {
    use_stack();  // the kernel has forgotten the stack that a handler with SS_AUTODISARM jumped out of
    // Not by siglongjmp, which would do it on the handler's stack: signals that wait would pile up there.
    sigprocmask(SIG_UNBLOCK, &g_both, nullptr);
  }
  g_may_jump = true;
  for (unsigned turn = 0; g_handler_begun < runs; ++turn) allocate_in_main(turn % 8);
  g_may_jump = false;
}

static void* work(void*) {
  char inside[kAlternateBytes];
  g_alternate = g_static_stack;
  if (strcmp(g_place, "above") == 0) g_alternate = g_area + kAlternateBytes + kStackBytes;
  if (strcmp(g_place, "below") == 0) g_alternate = g_area;
  if (strcmp(g_place, "inside") == 0) g_alternate = static_cast<char*>(keep(inside));
  use_stack();
  // Not so often that handlers leave the program no time: a walk through the loader's resolver takes 20 us and more, so
  // functions are bound at the start, too.
  start_timer(SIGUSR1, 101'000);
  start_timer(SIGUSR2, 137'000);
  work_until(g_runs / 2);
  if (g_filter) install_filter();
  work_until(g_runs);
  g_is_over = true;
  static char text[200];
  const int length = snprintf(text, sizeof(text), "%lu %lu %lu %lu %lu\n", g_main_begun, g_main_done, g_handler_begun,
                              g_handler_done, g_jumps);
  _exit(write(1, text, static_cast<size_t>(length)) == length ? 0 : 97);
}

int main(int argc, char** argv) {
  if (argc != 6) return 98;
  g_delivery = argv[1];
  g_jump = strcmp(argv[2], "jumps") == 0;
  g_place = argv[3];
  g_filter = strcmp(argv[4], "filter") == 0;
  g_runs = static_cast<uint64_t>(atol(argv[5]));
  struct sigaction action = {};
  action.sa_handler = allocate_in_handler;
  action.sa_flags = strcmp(g_delivery, "plain") == 0 ? 0 : SA_ONSTACK;
  sigemptyset(&g_both);
  sigaddset(&g_both, SIGUSR1);
  sigaddset(&g_both, SIGUSR2);
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGUSR2, &action, nullptr);
  if (strcmp(g_place, "main") == 0) work(nullptr);
  g_area = static_cast<char*>(
      mmap(nullptr, 2 * kAlternateBytes + kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, g_area + kAlternateBytes, kStackBytes);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, work, nullptr) != 0) return 6;
  pthread_join(thread, nullptr);
  return 99;
}
