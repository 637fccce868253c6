// tests/judgement/vcardimport.c: what is wrong with it, or not, stands in truth.tsv.
/* vcardimport: reads address cards from several telephones and joins them to one book. */
#include "lib/textkit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct card {
  char *name, *number, *note;
  struct card *next;
};

struct book {
  struct card *slots[4096];
  size_t cards;
};

static struct card *book_card(struct book *book, const char *name) {
  struct card **slot = &book->slots[tk_hash(name) % 4096];
  for (struct card *c = *slot; c; c = c->next)
    if (strcmp(c->name, name) == 0) return c;
  struct card *card = tk_alloc(sizeof *card);
  memset(card, 0, sizeof *card);
  card->name = tk_dup(name);
  card->next = *slot;
  *slot = card;
  book->cards++;
  return card;
}

/* A newer telephone wins over an older one. */
static void card_set(struct card *card, const char *key, const char *value) {
  if (strcmp(key, "TEL") == 0) {
    free(card->number);
    card->number = tk_dup(value);
  } else if (strcmp(key, "NOTE") == 0) {
    card->note = tk_dup(value);
  }
}

static void import_line(struct book *book, const char *line) {
  char *name = tk_field(line, ';', 0), *key = tk_field(line, ';', 1), *value = tk_field(line, ';', 2);
  card_set(book_card(book, name), key, value);
  free(name);
  free(key);
  free(value);
}

/* What the telephone sends: a number and a note for each of its cards. */
static void import_telephone(struct book *book, int telephone) {
  char *line = tk_alloc(8192);
  for (int i = 0; i < 2000; i++) {
    snprintf(line, 8192, "Person No %d;TEL;+49 %d %d", i, telephone, i * 7919);
    import_line(book, line);
    char *note = tk_lorem(3000 + i % 500, (unsigned)(i * 31 + telephone));
    snprintf(line, 8192, "Person No %d;NOTE;%s", i, note);
    import_line(book, line);
    free(note);
    if (i % 100 == 0) usleep(12000);
  }
  free(line);
}

static size_t book_print(const struct book *book) {
  size_t bytes = 0;
  for (int s = 0; s < 4096; s++)
    for (const struct card *c = book->slots[s]; c; c = c->next) bytes += strlen(c->number) + strlen(c->note);
  return bytes;
}

static void book_free(struct book *book) {
  for (int s = 0; s < 4096; s++)
    for (struct card *c = book->slots[s], *next; c; c = next) {
      next = c->next;
      free(c->name);
      free(c->number);
      free(c->note);
      free(c);
    }
  free(book);
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int telephones = 6 * (s ? atoi(s) : 1);
  struct book *book = tk_alloc(sizeof *book);
  memset(book, 0, sizeof *book);
  for (int t = 0; t < telephones; t++) import_telephone(book, t);
  printf("%zu cards, %zu bytes\n", book->cards, book_print(book));
  book_free(book);
  return 0;
}
