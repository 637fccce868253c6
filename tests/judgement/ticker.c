// tests/judgement/ticker.c: what is wrong with it, or not, stands in truth.tsv.
/* ticker: replays the messages of the night, keeps the last price of each share and answers questions all day. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHARES = 40000 };

struct message {
  uint32_t share, price;
  char text[2200];
  struct message *next;
};

struct quote {
  uint32_t share, price, volume;
  char name[28];
};

struct exchange {
  struct message *night, *last;
  struct quote *quotes[SHARES];
};

static struct message *receive(uint32_t n) {
  struct message *m = malloc(sizeof *m);
  m->share = n;
  m->price = n * 2654435761u % 90000;
  m->next = NULL;
  memset(m->text, 'a' + (int)(n % 26), sizeof m->text);
  return m;
}

static struct quote *new_quote(uint32_t share) {
  struct quote *q = malloc(sizeof *q);
  q->share = share;
  q->price = q->volume = 0;
  snprintf(q->name, sizeof q->name, "share no. %u", share);
  return q;
}

static void enter(struct exchange *e, struct message *m) {
  if (e->quotes[m->share] == NULL) e->quotes[m->share] = new_quote(m->share);
  e->quotes[m->share]->price = m->price;
  if (e->last) e->last->next = m;
  else e->night = m;
  e->last = m;
}

static void replay_night(struct exchange *e) {
  for (uint32_t n = 0; n < SHARES; n++) {
    enter(e, receive(n));
    if (n % 1000 == 0) usleep(10000);
  }
}

/* The opening auction needs all messages of the night once. */
static uint64_t open_auction(struct exchange *e) {
  uint64_t check = 0;
  for (struct message *m = e->night, *next; m; m = next) {
    next = m->next;
    e->quotes[m->share]->volume += (uint32_t)m->text[m->price % sizeof m->text];
    check += e->quotes[m->share]->volume;
    free(m);
  }
  e->night = e->last = NULL;
  return check;
}

static uint64_t answer(const struct exchange *e, uint32_t question) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < 200; i++) sum += e->quotes[(question * 7919 + i * 31) % SHARES]->price;
  return sum;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int questions = 1000 * (s ? atoi(s) : 1);
  static struct exchange e;
  replay_night(&e);
  uint64_t check = open_auction(&e);
  for (int n = 0; n < questions; n++) {
    check += answer(&e, (uint32_t)n);
    usleep(1500);
  }
  for (uint32_t n = 0; n < SHARES; n++) free(e.quotes[n]);
  printf("%d questions, check %llu\n", questions, (unsigned long long)check);
  return 0;
}
