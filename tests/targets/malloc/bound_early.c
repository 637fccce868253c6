// tests/targets/malloc/bound_early.c: a program that exports nothing, lies where it was linked and is bound at its
// start (bound_early.cmake) asks libc for blocks by a name of libc's own. Its imported symbols stand where a library
// has what it exports.
#include <stddef.h>
#include <stdlib.h>

extern void* __libc_malloc(size_t size_bytes);

int main(void) {
  for (int i = 0; i < 100; ++i) {
    void* volatile block = __libc_malloc(1235);
    free(block);
  }
  return 0;
}
