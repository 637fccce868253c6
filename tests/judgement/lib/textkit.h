// tests/judgement/lib/textkit.h: small helpers for text, shared by several programs.
#ifndef TEXTKIT_H
#define TEXTKIT_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A copy of text. The caller frees it. */
char *tk_dup(const char *text);
/* A copy of the bytes from..to, ended by a zero byte. The caller frees it. */
char *tk_range(const char *from, const char *to);
/* A copy of field n of a line whose fields are divided by mark; "" if it has fewer. The caller frees it. */
char *tk_field(const char *line, char mark, int n);
/* A text of the given size, made of words; the same seed gives the same text. The caller frees it. */
char *tk_lorem(size_t size, unsigned seed);
/* Like malloc, but ends the program when there is no memory. */
void *tk_alloc(size_t size);
/* A hash of text. */
unsigned tk_hash(const char *text);

#ifdef __cplusplus
}
#endif
#endif
