// tests/targets/processes/spawns_on_small_stack.c: a thread with the smallest stack there may be starts a program by
// posix_spawn and posix_spawnp; prints their results.
//
// usage: spawns_on_small_stack VARIABLES PATH_BYTES    how long the environment and PATH are
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { kMostVariables = 3000, kMostPathBytes = 6000 };
static char* variables[kMostVariables + 1];

static int status_of(int error, pid_t pid) {
  int status = -1;
  if (error == 0) waitpid(pid, &status, 0);
  return status;
}

static void* start(void* unused) {
  char* arguments[] = {"true", NULL};
  pid_t pid = 0;
  int error = posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, variables);
  printf("posix_spawn %d %d\n", error, status_of(error, pid));
  error = posix_spawnp(&pid, "true", NULL, NULL, arguments, variables);
  printf("posix_spawnp %d %d\n", error, status_of(error, pid));
  return unused;
}

int main(int count, char** arguments) {
  static char path[kMostPathBytes + 16];
  const int variable_count = count == 3 ? atoi(arguments[1]) : kMostVariables + 1;
  const int path_bytes = count == 3 ? atoi(arguments[2]) : 0;
  if (variable_count > kMostVariables || path_bytes > kMostPathBytes) return 2;
  for (int at = 0; at < path_bytes; at += 6) memcpy(path + at, "/none:", 6);
  strcat(path, "/bin");
  setenv("PATH", path, 1);
  for (int i = 0; i < variable_count; ++i) {
    char text[16];
    snprintf(text, sizeof text, "V%d=x", i);
    variables[i] = strdup(text);
  }
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  if (pthread_create(&thread, &attributes, start, NULL) != 0) return 1;
  pthread_join(thread, NULL);
}
