// tests/judgement/lib/textkit.c: small helpers for text, shared by several programs.
#include "textkit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *tk_alloc(size_t size) {
  void *p = malloc(size);
  if (p == NULL) {
    fputs("textkit: no memory\n", stderr);
    exit(1);
  }
  return p;
}

char *tk_range(const char *from, const char *to) {
  size_t n = (size_t)(to - from);
  char *copy = tk_alloc(n + 1);
  memcpy(copy, from, n);
  copy[n] = 0;
  return copy;
}

char *tk_dup(const char *text) {
  return tk_range(text, text + strlen(text));
}

char *tk_field(const char *line, char mark, int n) {
  while (n-- > 0) {
    line = strchr(line, mark);
    if (line == NULL) return tk_range("", "");
    line++;
  }
  const char *end = strchr(line, mark);
  return tk_range(line, end ? end : line + strlen(line));
}

char *tk_lorem(size_t size, unsigned seed) {
  static const char *const words[] = {"river", "stone", "window", "letter", "garden", "engine", "paper", "market"};
  char *text = tk_alloc(size + 16);
  size_t n = 0;
  while (n < size) {
    seed = seed * 1664525u + 1013904223u;
    const char *word = words[seed >> 29];
    size_t k = strlen(word);
    memcpy(text + n, word, k);
    n += k;
    text[n++] = ' ';
  }
  text[size] = 0;
  return text;
}

unsigned tk_hash(const char *text) {
  unsigned h = 2166136261u;
  for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
  return h;
}
