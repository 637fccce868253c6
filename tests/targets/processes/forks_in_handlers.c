// tests/targets/processes/forks_in_handlers.c: a timer's handler forks; the child returns from the handler, and so goes
// on inside whatever its parent was doing, which may have been an event of the profiler. Prints "bad 0" if every child
// ended as it should.
//
// usage: forks_in_handlers [quiet]     quiet: the child does not allocate in the handler, and returns from it when its
// parent has long gone on; else it allocates there, and its parent waits for its end
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kForks = 200, kChildStatus = 5, kQuietMicroseconds = 30000 };

static int g_is_quiet;
static volatile sig_atomic_t g_forks, g_bad, g_is_child;

static void check(int status) {
  if (!WIFEXITED(status) || WEXITSTATUS(status) != kChildStatus) ++g_bad;
}

static void on_timer(int number) {
  (void)number;
  if (g_forks == kForks) return;
  const pid_t child = fork();
  if (child == 0) {
    if (g_is_quiet) {
      usleep(kQuietMicroseconds);
    } else {
      free(malloc(1235));
    }
    signal(SIGALRM, SIG_IGN);
    g_is_child = 1;
    return;
  }
  int status = 0;
  if (!g_is_quiet && waitpid(child, &status, 0) == child) check(status);
  ++g_forks;
}

int main(int argc, char** argv) {
  g_is_quiet = argc > 1 && strcmp(argv[1], "quiet") == 0;
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
  int status = 0;
  while (g_is_quiet && wait(&status) > 0) check(status);
  // What its ring holds now is still to be read.
  for (size_t i = 0; i < 100000; ++i) free(malloc(64 + i % 100));
  printf("bad %d\n", (int)g_bad);
  return 0;
}
