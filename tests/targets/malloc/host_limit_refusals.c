// tests/targets/malloc/host_limit_refusals.c: three functions ask in turn for more than --limit host=4000000 leaves,
// one of them twice, from two places.
#include "../keep.h"

#include <stdlib.h>

KEEP_FRAME void* first_refused(void) { return keep(malloc(3 << 20)); }
KEEP_FRAME void* second_refused(void) { return keep(malloc(2 << 20)); }
KEEP_FRAME void* third_refused(void) { return keep(malloc(5 << 20)); }

int main(void) {
  void* held = keep(malloc(2 << 20));
  const int has_failed = first_refused() != NULL || second_refused() != NULL || third_refused() != NULL;
  const int has_failed_again = second_refused() != NULL;
  free(held);
  return held == NULL || has_failed || has_failed_again;
}
