# --unwinder=fp: the same stacks where everything has frame pointers; elsewhere none that makes the program crash.
cat >kept.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) void* leaf(int size) { void* block = malloc(size); __asm__ volatile("" : "+r"(block)); return block; }
__attribute__((noinline)) void* middle(int depth) {
  void* block = depth == 0 ? leaf(1235) : middle(depth - 1);
  __asm__ volatile("" : "+r"(block));
  return block;
}
int main(void) { return middle(20) == NULL; }
END
gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls kept.c -o kept
unset LD_PRELOAD
expect_status 0 "$HEAPPROF_BIN" run -q -o fp.json --unwinder fp ./kept
expect_status 0 "$HEAPPROF_BIN" run -q -o own.json --unwinder auto ./kept
for file in fp.json own.json; do expect_eq "frames of middle in $file" "$(stacks leaf $file | head -1 | grep -o middle | wc -l)" 21; done
expect_eq "unwinder" "$(json fp.json .heapprof.coverage.unwinder)" fp
for program in "sqlite3 :memory: .schema" "$TARGETS/no_frame_pointers" "$TARGETS/thread_starts"; do
  status=0
  $program </dev/null >plain.txt 2>&1 || status=$?
  expect_status $status "$HEAPPROF_BIN" run -q -o any.json --unwinder fp $program
done
