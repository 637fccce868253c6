// tests/judgement/geocode.c: what is wrong with it, or not, stands in truth.tsv.
/* geocode: reads a gazetteer, makes a compact table of it and answers which town is near a point. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct town {
  int32_t lat, lon;
  uint32_t people, id;
};

struct gazetteer {
  char *text;                                                /* as it came from the file */
  size_t size;
  struct town *towns;
  size_t count;
};

static size_t write_line(char *to, size_t room, uint32_t n) {
  uint32_t r = n * 2654435761u;
  return (size_t)snprintf(to, room, "%u;Town of the name number %u;%d;%d;%u;Europe/Berlin;county %u;notes on the town\n", n, n,
                          (int)(r % 180000) - 90000, (int)(r / 7 % 360000) - 180000, r % 100000, r % 400);
}

/* Stands for reading the file: it comes in pieces of 1 MiB. */
static void read_text(struct gazetteer *g, uint32_t lines) {
  size_t room = (size_t)lines * 100;
  g->text = malloc(room);
  g->size = 0;
  for (uint32_t n = 0; n < lines; n++) {
    g->size += write_line(g->text + g->size, room - g->size, n);
    if (n % 10000 == 0) usleep(4000);
  }
}

static void parse_text(struct gazetteer *g, uint32_t lines) {
  g->towns = malloc(lines * sizeof *g->towns);
  g->count = 0;
  const char *at = g->text, *end = g->text + g->size;
  while (at < end) {
    struct town *town = &g->towns[g->count++];
    town->id = (uint32_t)strtoul(at, NULL, 10);
    at = strchr(strchr(at, ';') + 1, ';') + 1;
    char *next;
    town->lat = (int32_t)strtol(at, &next, 10);
    town->lon = (int32_t)strtol(next + 1, &next, 10);
    town->people = (uint32_t)strtoul(next + 1, &next, 10);
    at = (const char *)memchr(next, '\n', (size_t)(end - next)) + 1;
  }
}

static void gazetteer_open(struct gazetteer *g, uint32_t lines) {
  read_text(g, lines);
  parse_text(g, lines);
}

static void gazetteer_close(struct gazetteer *g) {
  free(g->towns);
  free(g->text);
}

static uint32_t near(const struct gazetteer *g, int32_t lat, int32_t lon, size_t from) {
  uint64_t best = UINT64_MAX;
  uint32_t id = 0;
  for (size_t i = from; i < from + 2000; i++) {
    const struct town *t = &g->towns[i % g->count];
    int64_t a = t->lat - lat, b = t->lon - lon;
    uint64_t d = (uint64_t)(a * a + b * b);
    if (d < best) best = d, id = t->id;
  }
  return id;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int questions = 1200 * (s ? atoi(s) : 1);
  struct gazetteer g;
  gazetteer_open(&g, 500000);
  uint64_t sum = 0;
  for (int q = 0; q < questions; q++) {
    sum += near(&g, q * 75 - 45000, q * 150 - 90000, (size_t)q * 400);
    usleep(1500);
  }
  printf("%zu towns, check %llu\n", g.count, (unsigned long long)sum);
  gazetteer_close(&g);
  return 0;
}
