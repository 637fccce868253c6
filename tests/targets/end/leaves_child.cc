// tests/targets/end/leaves_child.cc: ends with status 6 while a process that it started runs on, until FIFO has been
// written to.
//
// usage: leaves_child child|daemon FIFO      prints the pid of what runs on once it has allocated
#include "../keep.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

KEEP_FRAME void allocate_early() { keep(malloc(1235)); }
KEEP_FRAME void allocate_late() { keep(malloc(1237)); }

static void live_on(const char* fifo, int ready) {
  for (int i = 0; i < 3; ++i) allocate_early();
  int pid = getpid();
  if (write(ready, &pid, sizeof pid) != sizeof pid) _exit(97);
  close(ready);
  char byte;
  const int fd = open(fifo, O_RDONLY);
  if (read(fd, &byte, 1) != 1) _exit(96);
  for (int i = 0; i < 5; ++i) allocate_late();
  _exit(0);
}

int main(int argc, char** argv) {
  if (argc != 3) return 98;
  int ends[2];
  if (pipe(ends) != 0) return 97;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    if (strcmp(argv[1], "daemon") == 0) {
      setsid();
      if (fork() != 0) _exit(0);
    }
    live_on(argv[2], ends[1]);
  }
  close(ends[1]);
  int pid = 0;
  if (read(ends[0], &pid, sizeof pid) != sizeof pid) return 95;
  if (strcmp(argv[1], "daemon") == 0) waitpid(child, nullptr, 0);
  dprintf(1, "%d\n", pid);
  return 6;
}
