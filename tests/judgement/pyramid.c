/* tests/judgement/pyramid.c: what is wrong with it, or not, stands in truth.tsv.
 * pyramid: enlarges a picture level by level; each level is computed from the one below, which is then freed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct level {
  size_t bytes;
  uint8_t *pixels;
};

static __attribute__((noinline)) struct level new_level(size_t bytes) {
  struct level l = {bytes, malloc(bytes)};
  if (l.pixels == NULL) exit(1);
  return l;
}

int main(void) {
  struct level below = new_level(64 * 1024);
  for (size_t i = 0; i < below.bytes; i++) below.pixels[i] = (uint8_t)(i * 31);
  for (int n = 1; n < 9; n++) {
    struct level l = new_level(2 * below.bytes);
    for (int strip = 0; strip < 20; strip++) { /* a strip at a time, with a pause for the display */
      for (size_t i = l.bytes / 20 * strip; i < l.bytes / 20 * (strip + 1); i++)
        l.pixels[i] = (uint8_t)((below.pixels[i / 2] + below.pixels[(i + 1) / 2 % below.bytes]) / 2);
      usleep(5000);
    }
    free(below.pixels);
    below = l;
  }
  usleep(300000);
  printf("%d\n", below.pixels[12345]);
  free(below.pixels);
  return 0;
}
