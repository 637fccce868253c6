// tests/judgement/waveform.c: what is wrong with it, or not, stands in truth.tsv.
/* waveform: takes in the sound of a whole concert and draws its wave form at several scales. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RATE = 48000, CHANNELS = 2, PERIOD = 48000 };

struct concert {
  int16_t *samples;
  size_t room, used;                                         /* in samples */
};

/* The programme says how long the concert is. */
static int concert_open(struct concert *c, int seconds) {
  c->room = (size_t)seconds * RATE * CHANNELS;
  c->used = 0;
  c->samples = malloc(c->room * sizeof *c->samples);
  return c->samples != NULL;
}

static void concert_close(struct concert *c) {
  free(c->samples);
}

static int concert_write(struct concert *c, const int16_t *samples, size_t n) {
  if (c->used + n > c->room) return 0;
  memcpy(c->samples + c->used, samples, n * sizeof *samples);
  c->used += n;
  return 1;
}

static void microphone(int16_t *samples, size_t n, size_t at) {
  uint32_t seed = (uint32_t)at;
  for (size_t i = 0; i < n; i++) samples[i] = (int16_t)((seed = seed * 1664525 + 1013904223) >> 17);
}

static int take_in(struct concert *c) {
  int16_t *period = malloc(PERIOD * CHANNELS * sizeof *period);
  int ok = 1;
  while (ok && c->used < c->room) {
    microphone(period, PERIOD * CHANNELS, c->used);
    ok = concert_write(c, period, PERIOD * CHANNELS);
    usleep(1500);
  }
  free(period);
  return ok;
}

struct column {
  int16_t low, high;
};

static uint64_t draw(const struct concert *c, size_t width) {
  struct column *columns = malloc(width * sizeof *columns);
  size_t each = c->used / width;
  for (size_t x = 0; x < width; x++) {
    struct column col = {32767, -32768};
    for (size_t i = x * each; i < (x + 1) * each; i++) {
      if (c->samples[i] < col.low) col.low = c->samples[i];
      if (c->samples[i] > col.high) col.high = c->samples[i];
    }
    columns[x] = col;
  }
  uint64_t check = 0;
  for (size_t x = 0; x < width; x++) check += (uint64_t)(columns[x].high - columns[x].low) * x;
  free(columns);
  return check;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int drawings = 10 * (s ? atoi(s) : 1);
  struct concert c;
  if (!concert_open(&c, 600)) return 1;
  if (!take_in(&c)) return 1;
  uint64_t check = 0;
  for (int n = 0; n < drawings; n++) {
    check += draw(&c, 400 + (size_t)n * 120);
    usleep(20000);
  }
  printf("%zu samples, check %llu\n", c.used, (unsigned long long)check);
  concert_close(&c);
  return 0;
}
