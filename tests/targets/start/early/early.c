// tests/targets/start/early/early.c: allocates, and ends with what the indirect function says.
#include <stdlib.h>

extern int (*pointer)(void);
int main(void) {
  free(malloc(1236));
  return pointer();
}
