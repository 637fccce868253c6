# Nothing of the agent's touches the program's heap: its size, its break and the addresses of its first blocks are as
# without us. With a fixed layout (setarch -R), as otherwise no two runs are alike.
have setarch || skip "setarch is not installed (util-linux)"
setarch -R true 2>/dev/null || skip "address space layout cannot be fixed here"
lists() { # lists NAME PROGRAM ARGS…
  local name=$1
  shift
  setarch -R "$@" >"$name.plain.txt" || fail "$name without us"
  setarch -R "$HEAPPROF_BIN" run -q -o profile.json -- "$@" >"$name.profiled.txt" || fail "$name with us"
  expect_eq "blocks of $name" "$(wc -l <"$name.plain.txt")" "$(wc -l <"$name.profiled.txt")"
  diff "$name.plain.txt" "$name.profiled.txt" >"$name.diff" ||
    fail "the heap of $name is another with us: $(grep -c '^>' "$name.diff") of $(wc -l <"$name.plain.txt") lines differ: $(head -2 "$name.profiled.txt" | tr '\n' ' ')"
}
lists malloc "$TARGETS/first_addresses"
lists new "$TARGETS/first_addresses" --new
# A C program, which has no operator new at the start.
cc -O1 -x c -o plain_c - <<'C' || skip "cc is not installed"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  struct mallinfo2 info = mallinfo2();
  void* end = sbrk(0);
  void* first = malloc(24);
  void* second = malloc(2000);
  printf("%zu %zu %zu\n%p\n%p %p\n", info.arena, info.uordblks, info.fordblks, end, first, second);
  free(first);
  free(second);
  return 0;
}
C
lists plain_c ./plain_c
# Another allocator is tried in a copy of the process. Where its pages lie may differ, how blocks lie in them may not.
# (mimalloc chooses at random where, and no two runs of it are alike.)
tried=0
for library in libtcmalloc_minimal.so.4 libjemalloc.so.2; do
  path=$(ldconfig -p | awk -v name=$library '$1 == name { print $NF; exit }')
  if [ -z "$path" ]; then
    not_tried "$library is not installed"
    continue
  fi
  tried=$((tried + 1))
  LD_PRELOAD=$path lists "$library" "$TARGETS/first_addresses" --apart
  expect_eq "the allocator" "$(basename "$(json profile.json .heapprof.coverage.allocator)" | cut -c1-12)" "$(echo $library | cut -c1-12)"
done
[ "$tried" -gt 0 ] || not_tried "none of the allocators is installed"
