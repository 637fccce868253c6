# A program that defines malloc itself, and only the least of its family, is hooked in place; told to leave it alone,
# heapprof says that it cannot see what the program allocates.
expect_status 7 "$TARGETS/own_malloc"
profile "$TARGETS/own_malloc"
expect_eq "exit status" "$status" 7
expect_complete
expect_sum '^main' "8645 7 0 0"
expect_not_in err.txt HP013
expect_status 7 "$HEAPPROF_BIN" run --no-inner-allocators -o profile.json "$TARGETS/own_malloc"
expect_in err.txt "defines malloc, free, calloc, realloc itself: what it allocates never reaches the agent [HP013]"
expect_eq "allocations" "$(jq '[.pps[].tbk] | add // 0' profile.json)" 0
# An empty profile never comes with a status that says that all is well.
expect_status 0 "$TARGETS/own_malloc" quietly
expect_status 125 "$HEAPPROF_BIN" run -q --no-inner-allocators -o profile.json "$TARGETS/own_malloc" quietly
expect_in err.txt "heapprof: error: the profile is empty"
expect_in err.txt "[HP016]"

# One that forwards to the next malloc is seen there: all is counted, and there is no warning.
cat >forwards.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
static long calls;
void* malloc(size_t size) {
  static void* (*next)(size_t);
  if (next == NULL) next = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
  ++calls;
  return next(size);
}
int main(void) {
  calls = 0;
  for (int i = 0; i < 100; ++i) free(realloc(malloc(10), 20));
  free(calloc(10, 10));
  return calls == 100 ? 0 : 1;
}
C
gcc -O1 -g -fno-builtin forwards.c -o forwards
"$HEAPPROF_BIN" run -o forwards.json -- ./forwards 2>err.txt || { cat err.txt; fail "one that forwards: $?"; }
check_profile forwards.json
expect_eq "what it allocated" "$(json forwards.json '.heapprof.devices[0].totals | "\(.total_count) \(.total_bytes)"')" "201 3100"
expect_not_in err.txt HP041
expect_not_in err.txt HP013
