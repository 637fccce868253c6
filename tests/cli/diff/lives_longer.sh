# As many blocks as before, of which more are alive at once: the sentence says that, and not that more are allocated.
cat >lives.c <<'C'
#include <stdlib.h>
#include <string.h>
#define COUNT 20000
static char *kept[COUNT];
__attribute__((noinline)) static char *make(void) { return memset(malloc(500), 1, 500); }
int main(int argc, char **argv) {
  for (int i = 0; i < COUNT; i++) kept[i] = make(), argc == 1 ? free(kept[i]) : (void)argv;
  return 0;
}
C
gcc -g -O1 -o lives lives.c
"$HEAPPROF_BIN" run -q -o freed.json -- ./lives
"$HEAPPROF_BIN" run -q -o kept.json -- ./lives keep
expect_status 0 "$HEAPPROF_BIN" diff freed.json kept.json
tr -s '\n ' ' ' <out.txt >flat.txt
expect_in flat.txt "make (lives.c:5): as many blocks, but they live longer (1 → 20,000 at once)."
# The other way round nothing lives longer.
expect_status 0 "$HEAPPROF_BIN" diff kept.json freed.json
expect_not_in out.txt "live longer"
