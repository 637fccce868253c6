// tests/judgement/spellserv.c: what is wrong with it, or not, stands in truth.tsv.
/* spellserv: reads a word list as one text, makes a table of places in that text and checks words for clients. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wordlist {
  char *text;                                                /* the table points into it */
  size_t size;
  const char **words;
  size_t count;
};

static size_t write_word(char *to, size_t room, uint32_t n) {
  return (size_t)snprintf(to, room, "word%08u: a noun of the class %u, seen in %u texts, stem of %u others; see the appendix\n", n,
                          n % 5, n * 2654435761u % 10000, n % 17);
}

/* Stands for reading the file: it comes in pieces. */
static void read_text(struct wordlist *list, uint32_t lines) {
  size_t room = (size_t)lines * 93;
  list->text = malloc(room);
  list->size = 0;
  for (uint32_t n = 0; n < lines; n++) {
    list->size += write_word(list->text + list->size, room - list->size, n);
    if (n % 10000 == 0) usleep(4000);
  }
}

static void index_text(struct wordlist *list, uint32_t lines) {
  list->words = malloc(lines * sizeof *list->words);
  list->count = 0;
  for (char *at = list->text, *end = at + list->size; at < end;) {
    list->words[list->count++] = at;
    at = (char *)memchr(at, '\n', (size_t)(end - at)) + 1;
  }
}

static void wordlist_open(struct wordlist *list, uint32_t lines) {
  read_text(list, lines);
  index_text(list, lines);
}

static void wordlist_close(struct wordlist *list) {
  free(list->words);
  free(list->text);
}

/* The words are sorted. */
static const char *find_word(const struct wordlist *list, const char *word) {
  size_t from = 0, to = list->count, n = strlen(word);
  while (from < to) {
    size_t middle = (from + to) / 2;
    int order = strncmp(list->words[middle], word, n);
    if (order == 0) return list->words[middle];
    if (order < 0) from = middle + 1;
    else to = middle;
  }
  return NULL;
}

static size_t check_text(const struct wordlist *list, uint32_t request) {
  size_t known = 0;
  for (uint32_t i = 0; i < 300; i++) {
    char word[32];
    snprintf(word, sizeof word, "word%08u:", (request * 300 + i) * 2654435761u % 600000);
    const char *entry = find_word(list, word);
    if (entry) known += entry[strlen(word) + 2] == 'n' || strchr(entry, ';') != NULL;
  }
  return known;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int requests = 1000 * (s ? atoi(s) : 1);
  struct wordlist list;
  wordlist_open(&list, 500000);
  size_t known = 0;
  for (int r = 0; r < requests; r++) {
    known += check_text(&list, (uint32_t)r);
    usleep(1500);
  }
  printf("%zu words, %zu known\n", list.count, known);
  wordlist_close(&list);
  return 0;
}
