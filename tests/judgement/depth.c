// tests/judgement/depth.c: what is wrong with it, or not, stands in truth.tsv.
/* depth: each morning it replays the orders of the night; it keeps the best prices and answers questions all day. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BONDS = 40000, ORDERS = 15000 };

struct order {
  uint32_t bond, price;
  char text[2200];
  struct order *next;
};

struct best {
  uint32_t bond, price, volume;
  char name[28];
};

struct market {
  struct order *night, *last;
  struct best *bests;                                        /* one block for all bonds */
};

static void market_open(struct market *m) {
  m->night = m->last = NULL;
  m->bests = malloc(BONDS * sizeof *m->bests);
  for (uint32_t n = 0; n < BONDS; n++) {
    m->bests[n].bond = n;
    m->bests[n].price = m->bests[n].volume = 0;
    snprintf(m->bests[n].name, sizeof m->bests[n].name, "bond no. %u", n);
  }
}

static void market_close(struct market *m) {
  free(m->bests);
}

static struct order *receive(uint32_t n) {
  struct order *o = malloc(sizeof *o);
  o->bond = n;
  o->price = n * 2654435761u % 90000;
  o->next = NULL;
  memset(o->text, 'a' + (int)(n % 26), sizeof o->text);
  return o;
}

static void enter(struct market *m, struct order *o) {
  m->bests[o->bond].price = o->price;
  if (m->last) m->last->next = o;
  else m->night = o;
  m->last = o;
}

static void replay_night(struct market *m, int day) {
  for (uint32_t n = 0; n < ORDERS; n++) {
    enter(m, receive((n * 7 + (uint32_t)day) % BONDS));
    if (n % 1000 == 0) usleep(5000);
  }
}

/* The opening auction needs all orders of the night once. */
static uint64_t open_auction(struct market *m) {
  uint64_t check = 0;
  for (struct order *o = m->night, *next; o; o = next) {
    next = o->next;
    m->bests[o->bond].volume += (uint32_t)o->text[o->price % sizeof o->text];
    check += m->bests[o->bond].volume;
    free(o);
  }
  m->night = m->last = NULL;
  return check;
}

static uint64_t answer(const struct market *m, uint32_t question) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < 200; i++) sum += m->bests[(question * 7919 + i * 31) % BONDS].price;
  return sum;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int days = 6 * (s ? atoi(s) : 1);
  struct market m;
  market_open(&m);
  uint64_t check = 0;
  for (int day = 0; day < days; day++) {
    replay_night(&m, day);
    check += open_auction(&m);
    for (int n = 0; n < 160; n++) {
      check += answer(&m, (uint32_t)n);
      usleep(1500);
    }
  }
  market_close(&m);
  printf("%d days, check %llu\n", days, (unsigned long long)check);
  return 0;
}
