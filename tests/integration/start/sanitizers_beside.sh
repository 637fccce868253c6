# A sanitizer that comes with a library or by LD_PRELOAD must be loaded first, too: such a program is not started, and
# one that a followed program starts runs as it does natively, is left alone and named.
cat >library.c <<'C'
#include <stdlib.h>
void* get(int bytes) { return malloc(bytes); }
C
cat >inner.c <<'C'
void* get(int bytes);
void* pass(int bytes) { return get(bytes); }
C
cat >program.c <<'C'
#include <stdlib.h>
void* pass(int bytes);
int main(void) {
  free(pass(1235));
  return 3;
}
C
gcc -shared -fPIC library.c -o libplain.so
gcc -shared -fPIC inner.c -L. -lplain -o libpass.so
gcc program.c -L. -lpass -Wl,-rpath-link,. -Wl,-rpath,'$ORIGIN' -Wl,--disable-new-dtags -o plain
expect_status 3 "$HEAPPROF_BIN" run -q -o profile.json -- ./plain
expect_eq "its blocks" "$(jq '[.pps[] | select(.tb == 1235)] | length' profile.json)" 1

# By a library of a library.
mkdir deep
tried=0
if gcc -fsanitize=thread -shared -fPIC library.c -o deep/libplain.so 2>/dev/null; then
  cp libpass.so plain deep
  status=0
  deep/plain >/dev/null 2>&1 || status=$?
  if [ $status = 3 ]; then
    expect_status 125 "$HEAPPROF_BIN" run -q -o profile.json -- deep/plain
    expect_in err.txt "libplain.so, which deep/plain loads, is built with ThreadSanitizer"
    expect_in err.txt "[HP012]"
    tried=1
  fi
  gcc program.c -L. -lpass -Wl,-rpath-link,. -o bare
  expect_status 125 env LD_LIBRARY_PATH="$PWD/deep" "$HEAPPROF_BIN" run -q -o profile.json -- ./bare
  expect_in err.txt "[HP012]"
fi
# By LD_PRELOAD. UBSan replaces nothing.
for name in asan tsan lsan ubsan; do
  runtime=$(gcc -print-file-name=lib$name.so)
  runtime=$(readlink -f "$runtime")
  [ -f "$runtime" ] || continue
  cp "$runtime" . 2>/dev/null
  native=0
  env LD_PRELOAD="$runtime" ./plain >plain.txt 2>&1 || native=$?
  got=0
  "$HEAPPROF_BIN" run -q -o child.json -- env LD_PRELOAD="$runtime" ./plain >out.txt 2>&1 || got=$?
  expect_eq "a child with $name" "$got $(cat out.txt)" "$native $(cat plain.txt)"
  got=0
  LD_PRELOAD=$runtime "$HEAPPROF_BIN" run -q -o direct.json -- ./plain >out.txt 2>err.txt || got=$?
  said=$(jq -rs '[.[].heapprof.unprofiled_programs[].reason] | join(", ")' child*.json)
  if [ $name = ubsan ]; then
    expect_eq "started with $name" $got $native
    expect_eq "what is said of a child with $name" "$said" ""
  else
    expect_eq "started with $name" $got 125
    expect_in err.txt "LD_PRELOAD=$runtime"
    expect_in err.txt "[HP012]"
    expect_eq "what is said of a child with $name" "$said" "LD_PRELOAD names a sanitizer, which replaces malloc itself"
  fi
  rm -f child*.json
  tried=1
done
[ $tried != 0 ] || skip "no sanitizer here"
