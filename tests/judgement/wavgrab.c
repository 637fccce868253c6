// tests/judgement/wavgrab.c: what is wrong with it, or not, stands in truth.tsv.
/* wavgrab: records the sound of one call, measures its level and sends it on in packets. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RATE = 48000, CHANNELS = 2, PACKET = 4800 };

struct recorder {
  int16_t *samples;
  size_t room, used;                                         /* in samples */
};

struct packet {
  uint32_t number;
  int16_t samples[PACKET * CHANNELS];
};

/* A call may last as long as 23 minutes. */
static int recorder_open(struct recorder *r, int minutes) {
  r->room = (size_t)minutes * 60 * RATE * CHANNELS;
  r->used = 0;
  r->samples = malloc(r->room * sizeof *r->samples);
  return r->samples != NULL;
}

static void recorder_close(struct recorder *r) {
  free(r->samples);
}

static int recorder_write(struct recorder *r, const int16_t *samples, size_t n) {
  if (r->used + n > r->room) return 0;
  memcpy(r->samples + r->used, samples, n * sizeof *samples);
  r->used += n;
  return 1;
}

static void microphone(int16_t *samples, size_t n, size_t at) {
  for (size_t i = 0; i < n; i++) samples[i] = (int16_t)(8000 * sin((double)(at + i) * 0.031) + (int)(i % 13));
}

static int record(struct recorder *r, int tenths) {
  int16_t *period = malloc(PACKET * CHANNELS * sizeof *period);
  int ok = 1;
  for (int t = 0; t < tenths && ok; t++) {
    microphone(period, PACKET * CHANNELS, r->used);
    ok = recorder_write(r, period, PACKET * CHANNELS);
    usleep(1500);
  }
  free(period);
  return ok;
}

static double level(const struct recorder *r) {
  double sum = 0;
  for (size_t i = 0; i < r->used; i++) sum += (double)r->samples[i] * r->samples[i];
  return sqrt(sum / (double)(r->used ? r->used : 1));
}

static uint64_t send_all(const struct recorder *r) {
  struct packet *packet = malloc(sizeof *packet);
  uint64_t check = 0;
  for (size_t at = 0; at + PACKET * CHANNELS <= r->used; at += PACKET * CHANNELS) {
    packet->number = (uint32_t)(at / PACKET);
    memcpy(packet->samples, r->samples + at, sizeof packet->samples);
    for (size_t i = 0; i < PACKET * CHANNELS; i++) check += (uint64_t)(packet->samples[i] & 0xff) ^ packet->number;
    usleep(1500);
  }
  free(packet);
  return check;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int sends = 1 * (s ? atoi(s) : 1);
  struct recorder r;
  if (!recorder_open(&r, 23)) return 1;
  if (!record(&r, 600)) return 1;
  uint64_t check = 0;
  for (int n = 0; n < sends; n++) check += send_all(&r);
  printf("%zu samples, level %.1f, check %llu\n", r.used, level(&r), (unsigned long long)check);
  recorder_close(&r);
  return 0;
}
