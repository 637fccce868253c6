// tests/judgement/segstore.c: what is wrong with it, or not, stands in truth.tsv.
/* segstore: stores measurements in segments; when a segment is full it is sealed and a new one is opened. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SEGMENT = 1 << 20, RECORD = 256 };

struct segment {
  unsigned char *at;
  size_t used;
  uint32_t number, crc;
  struct segment *older;
};

struct store {
  struct segment *open;
  uint32_t segments;
  uint64_t records;
};

static struct segment *segment_open(uint32_t number, struct segment *older) {
  struct segment *s = malloc(sizeof *s);
  s->at = mmap(NULL, SEGMENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (s->at == MAP_FAILED) exit(1);
  s->used = 0;
  s->number = number;
  s->crc = 0;
  s->older = older;
  return s;
}

/* A sealed segment is sent to the archive and not read again. */
static void segment_seal(struct segment *s) {
  for (size_t i = 0; i < s->used; i += 16) s->crc = s->crc * 31 + s->at[i];
}

static void store_put(struct store *st, const unsigned char *record) {
  if (st->open->used + RECORD > SEGMENT) {
    segment_seal(st->open);
    st->open = segment_open(++st->segments, st->open);
  }
  memcpy(st->open->at + st->open->used, record, RECORD);
  st->open->used += RECORD;
  st->records++;
}

static void measure(unsigned char *record, uint32_t n) {
  for (int i = 0; i < RECORD; i += 4) {
    uint32_t v = (n + (uint32_t)i) * 2654435761u;
    memcpy(record + i, &v, 4);
  }
}

static void store_open(struct store *st) {
  st->segments = 0;
  st->records = 0;
  st->open = segment_open(0, NULL);
}

static uint32_t store_close(struct store *st) {
  uint32_t crc = 0;
  for (struct segment *s = st->open, *older; s; s = older) {
    older = s->older;
    crc ^= s->crc;
    munmap(s->at, SEGMENT);
    free(s);
  }
  return crc;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  uint32_t records = 450000u * (uint32_t)(s ? atoi(s) : 1);
  struct store st;
  unsigned char record[RECORD];
  store_open(&st);
  for (uint32_t n = 0; n < records; n++) {
    measure(record, n);
    store_put(&st, record);
    if (n % 400 == 0) usleep(1500);
  }
  uint64_t stored = st.records;
  uint32_t segments = st.segments + 1, crc = store_close(&st);
  printf("%llu records in %u segments, %08x\n", (unsigned long long)stored, segments, crc);
  return 0;
}
