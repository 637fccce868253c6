// tests/targets/processes/number_again.c: argv[1] is executed under the number of this process, when that has ended.
//
// The child that it leaves behind names the number (clone3 with set_tid), which root may in a pid namespace of its own.
// Words: "again" when the other process has ended well, "failed" if not so, "refused" where the kernel gives no such
// number.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char* volatile g_kept;

int main(int argc, char** argv) {
  (void)argc;
  const pid_t root = getpid();
  g_kept = malloc(1235);
  if (fork() != 0) return 0;
  setsid();
  g_kept = malloc(1236);
  while (kill(root, 0) == 0 || errno != ESRCH) usleep(1000);
  pid_t wanted = root;
  struct clone_args args;
  memset(&args, 0, sizeof args);
  args.exit_signal = SIGCHLD;
  args.set_tid = (uint64_t)(uintptr_t)&wanted;
  args.set_tid_size = 1;
  const long child = syscall(SYS_clone3, &args, sizeof args);
  if (child < 0) return puts("refused"), 0;
  if (child == 0) {
    execv(argv[1], argv + 1);
    _exit(127);
  }
  int status = 0;
  waitpid((pid_t)child, &status, 0);
  puts(status == 0 ? "again" : "failed");
  return 0;
}
