// tests/judgement/checksum.c: what is wrong with it, or not, stands in truth.tsv.
/* checksum: computes the check sums of the files of a backup; a fixed set of buffers is used for reading. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFERS = 9, BUFFER_SIZE = 1 << 20 };

struct reader {
  unsigned char *buffers[BUFFERS];
  uint32_t seed;
};

static uint32_t crc_table[256];

static void crc_init(void) {
  for (uint32_t n = 0; n < 256; n++) {
    uint32_t c = n;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    crc_table[n] = c;
  }
}

static uint32_t crc(uint32_t c, const unsigned char *at, size_t n) {
  for (c = ~c; n--; at++) c = crc_table[(c ^ *at) & 255] ^ (c >> 8);
  return ~c;
}

static struct reader *reader_open(uint32_t seed) {
  struct reader *r = malloc(sizeof *r);
  r->seed = seed;
  for (int i = 0; i < BUFFERS; i++) {
    r->buffers[i] = malloc(BUFFER_SIZE);
    memset(r->buffers[i], i, BUFFER_SIZE);
  }
  return r;
}

static void reader_close(struct reader *r) {
  for (int i = 0; i < BUFFERS; i++) free(r->buffers[i]);
  free(r);
}

/* Stands for reading the file: every 64th byte changes. */
static size_t reader_next(struct reader *r, int block) {
  unsigned char *b = r->buffers[block % BUFFERS];
  size_t n = BUFFER_SIZE / 4 + (r->seed >> 16) % (BUFFER_SIZE / 4);
  for (size_t i = 0; i < n; i += 64) b[i] = (unsigned char)((r->seed = r->seed * 1664525u + 1013904223u) >> 24);
  return n;
}

static char *file_name(int file) {
  char *name = malloc(64);
  snprintf(name, 64, "/home/user/documents/report-%d.txt", file);
  return name;
}

static uint32_t sum_file(struct reader *r, int file) {
  char *name = file_name(file);
  uint32_t sum = crc(0, (unsigned char *)name, strlen(name));
  for (int block = 0; block < 3; block++) {
    size_t n = reader_next(r, file * 3 + block);
    sum = crc(sum, r->buffers[(file * 3 + block) % BUFFERS], n);
  }
  free(name);
  return sum;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int files = 220 * (s ? atoi(s) : 1);
  crc_init();
  struct reader *r = reader_open(3);
  uint32_t all = 0;
  for (int f = 0; f < files; f++) {
    all ^= sum_file(r, f);
    usleep(3000);
  }
  reader_close(r);
  printf("%d files, %08x\n", files, all);
  return 0;
}
