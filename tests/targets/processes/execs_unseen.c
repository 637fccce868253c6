/* tests/targets/processes/execs_unseen.c: allocates, then becomes a program without the agent, past every hook: raw
 * execve, no environment.
 *
 * usage: execs_unseen PROGRAM [ARGS...]      from `child` on in a forked child: execs_unseen child PROGRAM [ARGS...] */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void* g_kept[3];
__attribute__((noipa)) static void allocate_first(int i) { g_kept[i] = malloc(1235); }

int main(int argc, char** argv) {
  char* nothing[] = {NULL};
  if (argc < 2) return 98;
  if (strcmp(argv[1], "child") == 0) {
    int status;
    const pid_t child = fork();
    if (child != 0) return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 97;
    ++argv;
  }
  for (int i = 0; i < 3; ++i) allocate_first(i);
  syscall(SYS_execve, argv[1], argv + 1, nothing);
  return 97;
}
