// tests/targets/processes/forks_in_handlers.c: a timer's handler forks; the child allocates, returns from the handler,
// and so goes on inside whatever its parent was doing, which may have been an event of the profiler. Prints "bad 0" if
// every child ended as it should.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kForks = 200, kChildStatus = 5 };

static volatile sig_atomic_t g_forks, g_bad, g_is_child;

static void on_timer(int number) {
  (void)number;
  const pid_t child = fork();
  if (child == 0) {
    free(malloc(1235));
    signal(SIGALRM, SIG_IGN);
    g_is_child = 1;
    return;
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != kChildStatus) ++g_bad;
  ++g_forks;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_timer;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval every = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &every, NULL);
  for (size_t i = 0; g_forks < kForks && !g_is_child; ++i) free(malloc(64 + i % 100));
  if (g_is_child) {
    for (int i = 0; i < 1000; ++i) free(malloc(10));
    _exit(kChildStatus);
  }
  signal(SIGALRM, SIG_IGN);
  printf("bad %d\n", (int)g_bad);
  return 0;
}
