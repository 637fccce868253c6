// tests/targets/limits/forks_filtered.c: installs a seccomp filter that kills the process at every system call but
// those that the C library itself makes to fork, to wait and to end, and forks under it. Each child allocates, and
// exits with 5; one is forked by a signal handler, in whatever its parent was doing. Prints "bad N": children that did
// not end so.
//
// usage: forks_filtered kill|errno [handler]
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kForks = 50, kChildStatus = 5 };

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// What glibc's fork, waitpid, malloc, write and _exit need; natively nothing else is called.
static int install(unsigned others) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_write),
      ALLOW(SYS_clone),
      ALLOW(SYS_set_robust_list),
      ALLOW(SYS_wait4),
      ALLOW(SYS_brk),
      ALLOW(SYS_mmap),
      ALLOW(SYS_rt_sigreturn),
      ALLOW(SYS_exit_group),
      ALLOW(SYS_restart_syscall),
      BPF_STMT(BPF_RET | BPF_K, others),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

static volatile sig_atomic_t g_forks, g_is_child;
static int g_bad;

static void on_timer(int number) {
  (void)number;
  if (g_is_child || g_forks >= kForks) return;
  const pid_t child = fork();
  if (child == 0) {
    g_is_child = 1;
    return;
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != kChildStatus) ++g_bad;
  ++g_forks;
}

int main(int argc, char** argv) {
  if (argc < 2) return 98;
  void* volatile block = malloc(1235);
  free(block);
  static char buffer[256];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  const int in_handler = argc > 2 && strcmp(argv[2], "handler") == 0;
  if (in_handler) {
    signal(SIGALRM, on_timer);
    const struct itimerval every = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &every, NULL);
  }
  const unsigned others = strcmp(argv[1], "kill") == 0 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM;
  if (install(others) != 0) return 77;
  if (in_handler) {
    while (g_forks < kForks && !g_is_child) {
      block = malloc(1236);
      free(block);
    }
    for (int i = 0; g_is_child && i < 1000; ++i) {
      block = malloc(1237);
      free(block);
    }
    if (g_is_child) _exit(kChildStatus);
  }
  for (int i = 0; !in_handler && i < kForks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      block = malloc(1237);
      free(block);
      _exit(kChildStatus);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != kChildStatus) ++g_bad;
  }
  printf("bad %d\n", g_bad);
  fflush(stdout);
  _exit(0);
}
