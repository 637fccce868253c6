// tests/judgement/winscan.c: what is wrong with it, or not, stands in truth.tsv.
/* winscan: scans a large file for a pattern through a window that is mapped and moved along. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WINDOW = 12 << 20, STEP = 8 << 20 };

struct window {
  const unsigned char *at;
  size_t from, size;
};

/* Stands for a large file on the disk. */
static int make_file(size_t size) {
  FILE *file = tmpfile();
  int fd = file ? dup(fileno(file)) : -1;
  unsigned char *part = malloc(1 << 16);
  uint32_t seed = 17;
  if (fd < 0) exit(1);
  for (size_t at = 0; at < size; at += 1 << 16) {
    for (int i = 0; i < 1 << 16; i += 4) {
      seed = seed * 1664525u + 1013904223u;
      memcpy(part + i, &seed, 4);
    }
    if (pwrite(fd, part, 1 << 16, (off_t)at) != 1 << 16) exit(1);
  }
  free(part);
  fclose(file);
  return fd;
}

static void window_move(struct window *w, int fd, size_t from, size_t size) {
  if (w->at) munmap((void *)w->at, w->size);
  void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, (off_t)from);
  if (at == MAP_FAILED) exit(1);
  w->at = at;
  w->from = from;
  w->size = size;
}

static void window_close(struct window *w) {
  if (w->at) munmap((void *)w->at, w->size);
  w->at = NULL;
}

static size_t count_in(const struct window *w, unsigned char a, unsigned char b) {
  size_t found = 0;
  for (size_t i = 0; i + 1 < w->size; i += 2) found += w->at[i] == a && w->at[i + 1] == b;
  return found;
}

static size_t scan(int fd, size_t size, unsigned char a, unsigned char b) {
  struct window w = {NULL, 0, 0};
  size_t found = 0;
  for (size_t from = 0; from < size; from += STEP) {
    size_t n = size - from < WINDOW ? size - from : WINDOW;
    window_move(&w, fd, from, n);
    found += count_in(&w, a, b);
    usleep(20000);
  }
  window_close(&w);
  return found;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int scans = 5 * (s ? atoi(s) : 1);
  size_t size = (size_t)96 << 20, found = 0;
  int fd = make_file(size);
  for (int n = 0; n < scans; n++) found += scan(fd, size, (unsigned char)(n * 7), (unsigned char)(n + 40));
  close(fd);
  printf("%zu found\n", found);
  return 0;
}
