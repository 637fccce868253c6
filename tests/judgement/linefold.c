// tests/judgement/linefold.c: what is wrong with it, or not, stands in truth.tsv.
/* linefold: folds the lines of many letters to 72 columns and keeps the folded letters for the printer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 120, LINES = 1860 };

struct line {
  size_t from, size;
  struct line *next;
};

struct letter {
  char *text;
  size_t size, room;
  struct line *lines;                                        /* where each line starts, for the page numbers */
  size_t count;
};

static void letter_grow(struct letter *l, size_t more) {
  if (l->size + more <= l->room) return;
  l->room = l->size + more + 64;
  l->text = realloc(l->text, l->room);
  if (l->text == NULL) abort();
}

static void letter_add_line(struct letter *l, const char *text, size_t n) {
  letter_grow(l, n + 1);
  struct line *line = malloc(sizeof *line);
  line->from = l->size;
  line->size = n;
  line->next = l->lines;
  l->lines = line;
  l->count++;
  memcpy(l->text + l->size, text, n);
  l->text[l->size + n] = '\n';
  l->size += n + 1;
}

static void letter_free(struct letter *l) {
  for (struct line *line = l->lines, *next; line; line = next) {
    next = line->next;
    free(line);
  }
  free(l->text);
}

static size_t next_word(char *word, uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  size_t n = 3 + (*seed >> 28) % 9;
  for (size_t i = 0; i < n; i++) word[i] = (char)('a' + (*seed >> (i % 20)) % 26);
  return n;
}

/* Adds one line of as many words as fit. */
static void fold(struct letter *l, uint32_t *seed) {
  char line[96], word[16];
  size_t used = 0;
  for (size_t n; n = next_word(word, seed), used + n + 1 <= 72; used += n + 1) {
    memcpy(line + used, word, n);
    line[used + n] = ' ';
  }
  letter_add_line(l, line, used);
}

static uint64_t print(const struct letter *l) {
  uint64_t check = l->count;
  for (struct line *at = l->lines; at; at = at->next) check = check * 31 + (uint64_t)l->text[at->from + at->size / 2];
  return check;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int rounds = 3 * (s ? atoi(s) : 1);
  uint64_t check = 0;
  for (int r = 0; r < rounds; r++) {
    struct letter *all = calloc(COUNT, sizeof *all);
    uint32_t seed = (uint32_t)r;
    /* The lines come page by page for all letters at once. */
    for (int n = 0; n < LINES * COUNT; n++) {
      fold(&all[n % COUNT], &seed);
      if (n % 4000 == 0) usleep(4000);
    }
    for (int n = 0; n < COUNT; n++) check ^= print(&all[n]);
    for (int n = 0; n < COUNT; n++) letter_free(&all[n]);
    free(all);
  }
  printf("%d rounds, check %llx\n", rounds, (unsigned long long)check);
  return 0;
}
