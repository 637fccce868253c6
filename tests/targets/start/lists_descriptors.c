/* tests/targets/start/lists_descriptors.c: which of the first 64 descriptors are open at the start of main,
 * one character each.
 *
 * usage: lists_descriptors FILE      writes them to FILE */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char open_ones[64];
  if (argc != 2) return 98;
  for (int fd = 0; fd < 64; ++fd) open_ones[fd] = fcntl(fd, F_GETFD) >= 0 ? 'x' : '.';
  const int file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  return write(file, open_ones, sizeof open_ones) == sizeof open_ones ? 0 : 97;
}
