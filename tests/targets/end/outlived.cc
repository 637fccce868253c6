// tests/targets/end/outlived.cc: leaves a child that allocates for the first time when its parent has ended: after
// MILLISECONDS, or, as "never", only to live on until FIFO is written to. Prints the child's pid; ends with status 6.
// usage: outlived MILLISECONDS|never FIFO
#include "../keep.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

KEEP_FRAME void allocate_late() { keep(malloc(1237)); }

int main(int argc, char** argv) {
  if (argc != 3) return 98;
  int ends[2];
  if (pipe(ends) != 0) return 97;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    char byte;
    if (read(ends[0], &byte, 1) != 0) _exit(96);  // the parent has ended
    if (strcmp(argv[1], "never") == 0) {
      const int fd = open(argv[2], O_RDONLY);
      _exit(read(fd, &byte, 1) == 1 ? 0 : 95);
    }
    usleep(static_cast<useconds_t>(1000 * atoi(argv[1])));
    for (int i = 0; i < 5; ++i) allocate_late();
    _exit(0);
  }
  dprintf(1, "%d\n", child);
  return 6;
}
