# glibc's own checks of the heap (MALLOC_CHECK_, mtrace, mcheck) are in a library with hidden versions of malloc: they
# end the program and trace as many calls as without heapprof, and each block counts once.
library=libc_malloc_debug.so.0
LD_PRELOAD=$library true 2>err.txt && [ ! -s err.txt ] || skip "$library is not there"
cat >checks.c <<'C'
#include <mcheck.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* ./checks trace: writes to $MALLOC_TRACE. ./checks overflow: one byte too many. */
int main(int count, char** words) {
  void* volatile kept = malloc(1000);
  if (count > 1 && strcmp(words[1], "trace") == 0) {
    mtrace();
    free(malloc(10));
    kept = realloc(kept, 2000);
    free(calloc(3, 7));
    muntrace();
  } else {
    char* volatile text = malloc(24);
    text[24] = 1;
    free(text);
    puts("nothing was found");
  }
  free(kept);
  return 0;
}
C
gcc -O1 -fno-builtin checks.c -o checks
LD_PRELOAD=$library MALLOC_TRACE=plain.trace ./checks trace || fail "it fails without us"
LD_PRELOAD=$library MALLOC_TRACE=ours.trace profile ./checks trace
expect_eq "status" "$status" 0
expect_eq "lines of the trace" "$(wc -l <ours.trace)" "$(wc -l <plain.trace)"
expect_eq "what was asked for" "$(json profile.json '[.pps[] | .tb] | sort | map(select(. == 10 or . == 21 or . == 1000 or . == 2000))' | tr -d ' \n')" "[10,21,1000,2000]"
expect_eq "who serves malloc" "$(json profile.json .heapprof.coverage.allocator)" "$library"
for setting in MALLOC_CHECK_=3 GLIBC_TUNABLES=glibc.malloc.check=3; do
  plain=0 got=0
  env LD_PRELOAD=$library "$setting" ./checks overflow >plain.txt 2>&1 || plain=$?
  expect_eq "status without us" $plain 134
  env LD_PRELOAD=$library "$setting" "$HEAPPROF_BIN" run -q -o profile.json -- ./checks overflow >out.txt 2>&1 || got=$?
  expect_eq "status with $setting" $got 134
  expect_in out.txt "$(cat plain.txt)"
done
