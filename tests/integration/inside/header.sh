# heapprof/heapprof.h finds the profiler in programs of every kind, costs next to nothing without it, and needs nothing
# to be linked.
cat >asks.c <<'C'
#include <heapprof/heapprof.h>

/* Of all that may stand in a block, two on one line. */
static void both(void) {
  HEAPPROF_SCOPE("outer"); HEAPPROF_SCOPE_IN("part", "inner"); HEAPPROF_PAUSE(); HEAPPROF_PAUSE();
  HEAPPROF_MARK("one"); HEAPPROF_MARK("two"); HEAPPROF_SNAPSHOT("three"); HEAPPROF_SNAPSHOT("four");
}

int main(void) {
  heapprof_stats stats;
  int result = heapprof_get_stats("host", &stats);
  both();
  if (heapprof_is_active() != (result == HEAPPROF_OK)) return 9;
  return result == HEAPPROF_OK ? 0 : result == HEAPPROF_INACTIVE ? 1 : 2;
}
C
cp asks.c asks.cc
printf '#include <dlfcn.h>\n#include <heapprof/heapprof.h>\nvoid* (*find)(void*, const char*) = dlsym;\n' >after.c
printf '#include <heapprof/heapprof.h>\n#include <dlfcn.h>\nvoid* (*find)(void*, const char*) = dlsym;\n' >before.c
strict="-Wall -Wextra -Wpedantic -Werror -I$SOURCE/shared/include"
levels=-O2
[ -z "${HEAPPROF_LONG:-}" ] || levels="-O0 -O2"
kinds="-fPIE:-pie -fPIC:-pie -fno-pic:-no-pie"
tried=0
for pair in gcc:g++ clang:clang++; do
  have "${pair#*:}" || { not_tried "${pair%:*} is not installed"; continue; }
  for kind in $kinds; do
    for level in $levels; do
      for language in "${pair%:*}:-std=c11:asks.c" "${pair#*:}:-std=c++11:asks.cc" "${pair#*:}:-std=c++17:asks.cc" "${pair#*:}:-std=c++20:asks.cc"; do
        IFS=: read -r compiler standard file <<<"$language"
        $compiler $strict $level "$standard" "${kind%:*}" "${kind#*:}" "$file" -o asks || fail "$compiler $standard $kind"
        expect_status 1 ./asks
        expect_status 0 "$HEAPPROF_BIN" run -q -o profile.json -- ./asks
        tried=$((tried + 1))
      done
    done
    for file in before after; do
      ${pair%:*} $strict -std=gnu11 "${kind%:*}" -fsyntax-only $file.c || fail "${pair%:*} $kind, dlfcn.h: $file"
      ${pair#*:} $strict -D_GNU_SOURCE "${kind%:*}" -fsyntax-only -x c++ $file.c || fail "${pair#*:} $kind, dlfcn.h: $file"
    done
  done
done
[ "$tried" -ge 24 ] || fail "$tried programs were tried"

# Of a static program nothing is recorded, and it says so.
for kind in -fno-pic:-no-pie -fPIE:-static-pie; do
  if gcc $strict -std=c11 "${kind%:*}" -static "${kind#*:}" asks.c -o asks 2>err.txt; then
    expect_status 1 ./asks
  else
    not_tried "a program linked by -static ${kind#*:}"
  fi
done

# Where there is no profiler, a call is a load and a branch.
have valgrind || missing valgrind "valgrind is not installed: the rest passed"
cat >loop.c <<'C'
#include <heapprof/heapprof.h>
#include <stdlib.h>

int main(int count, char** words) {
  heapprof_stats stats;
  long sum = 0;
  for (long i = atol(words[1]); i != 0; --i) {
    __asm__ volatile("");
    if (count == 2) sum += heapprof_get_stats("host", &stats);
  }
  return sum == 0 && count == 2;
}
C
instructions() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 | sed -n 's/.*Collected : //p'; }
for kind in $kinds; do
  gcc $strict -O2 -std=c11 "${kind%:*}" "${kind#*:}" loop.c -o loop
  with=$(($(instructions ./loop 101000) - $(instructions ./loop 1000)))
  without=$(($(instructions ./loop 101000 1) - $(instructions ./loop 1000 1)))
  each=$(((with - without) / 100000))
  echo "$kind: $each instructions"
  [ "$each" -le 8 ] || fail "$kind: a call without a profiler takes $each instructions"
done
