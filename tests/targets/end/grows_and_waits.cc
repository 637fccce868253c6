// tests/targets/end/grows_and_waits.cc: allocates, forks a child that does so too, and waits for ever.
//
// usage: grows_and_waits FILE: in which a line stands as soon as both have allocated
#include "../keep.h"

#include <fcntl.h>
#include <unistd.h>

KEEP_FRAME void grow(int blocks) {
  for (int i = 0; i < blocks; ++i) keep(malloc(1235));
}

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  int ready[2];
  if (pipe(ready) != 0) return 97;
  grow(3);
  if (fork() == 0) {
    grow(5);
    if (write(ready[1], "x", 1) != 1) return 96;
    for (;;) pause();
  }
  char byte = 0;
  if (read(ready[0], &byte, 1) != 1) return 95;
  const int file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(file, "ready\n", 6) != 6) return 94;
  for (;;) pause();
}
