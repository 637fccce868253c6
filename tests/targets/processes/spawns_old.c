// tests/targets/processes/spawns_old.c: starts a program by each version of posix_spawn and posix_spawnp that libc has,
// and prints what came of it. Programs that were linked before glibc 2.15 call the old one, which hands a script
// without "#!" to the shell.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

extern char** environ;

typedef int Spawn(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                  char* const*);
Spawn old_spawn, old_spawnp;
__asm__(".symver old_spawn, posix_spawn@GLIBC_2.2.5");
__asm__(".symver old_spawnp, posix_spawnp@GLIBC_2.2.5");

static void start(const char* name, Spawn* spawn, char* program) {
  char* arguments[] = {program, "one", NULL};
  char* nothing[] = {"A=1", NULL};
  for (int i = 0; i < 2; ++i) {
    pid_t child = 0;
    int status = 0;
    const int error = spawn(&child, program, NULL, NULL, arguments, i == 0 ? environ : nothing);
    if (error == 0) waitpid(child, &status, 0);
    printf("%s: %s, status %d\n", name, strerrorname_np(error), status);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  start("old posix_spawn", old_spawn, argv[1]);
  start("old posix_spawnp", old_spawnp, argv[1]);
  start("posix_spawn", posix_spawn, argv[1]);
  start("posix_spawnp", posix_spawnp, argv[1]);
  start("posix_spawn by name", (Spawn*)dlsym(RTLD_DEFAULT, "posix_spawn"), argv[1]);
  start("posix_spawn by version 2.2.5", (Spawn*)dlvsym(RTLD_DEFAULT, "posix_spawn", "GLIBC_2.2.5"), argv[1]);
  start("posix_spawn by version 2.15", (Spawn*)dlvsym(RTLD_DEFAULT, "posix_spawn", "GLIBC_2.15"), argv[1]);
  return 0;
}
