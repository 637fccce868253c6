// tests/targets/malloc/host_limit_edge.c: blocks of 40 usable bytes until there are no more; a C program has no others.
//
// usage: host_limit_edge     prints how many there were, frees one, and says whether one, and not two, can be had
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

static __attribute__((noinline)) void* get(void) {
  void* block = malloc(40);
  __asm__ volatile("" : "+r"(block)::"memory");
  return block;
}

static void put_number(unsigned long number) {
  char text[32];
  char* at = text + sizeof text;
  *--at = '\n';
  do *--at = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  if (write(1, at, (size_t)(text + sizeof text - at)) < 0) _exit(3);
}

int main(void) {
  unsigned long count = 0;
  void* last = NULL;
  for (void* block; (block = get()) != NULL; ++count) last = block;
  if (errno != ENOMEM || malloc_usable_size(last) != 40) return 1;
  put_number(count);
  free(last);
  if (get() == NULL) return 2;
  return get() == NULL ? 0 : 3;
}
