# What each scope came to is what the program counted itself, to the byte: on 1 to 64 threads, by each kind of stamp,
# and whatever a program does in the middle of a scope.
books() { "$PYTHON" "$SOURCE/tests/support/scope_books.py" "$@"; }
random_case() {  # SEED THREADS OPERATIONS [FLAGS_OF_RUN…]
  local seed=$1 threads=$2 operations=$3
  shift 3
  expect_status 0 "$HEAPPROF_BIN" run -q "$@" -o profile.json -- "$TARGETS/scopes" random "$seed" "$threads" "$operations" books.txt
  check_profile profile.json
  expect_complete
  books profile.json books.txt || fail "seed $seed, $threads threads, '$*': the scopes are not true"
}
for threads in 1 2 3 8 64; do random_case $((threads + 20)) $threads 60000; done
random_case 101  4 40000 --clock sequence
random_case 102 16 40000 --clock sequence --fence producer
random_case 103  4 40000 --fence global
random_case 104  4 20000 --unwinder libunwind
random_case 105 16 40000 --collector-threads 2
expect_status 0 "$TARGETS/scopes" random 1 4 4000 books.txt  # without a profiler

# hazard STATUS COMMAND…: the scopes of the program, sorted, are those on stdin
hazard() {
  local want=$1
  shift
  profile "$TARGETS/scopes" "$@"
  expect_eq "$1: exit status" "$status" "$want"
  expect_complete
  cat >want.txt
  books profile.json >got.txt
  diff want.txt got.txt || fail "$1: other scopes than those"
}
#        begun ended left_open items | bytes blocks freed_bytes freed_blocks peak_inside | the same of mapped pages
hazard 0 recursion 3 <<'BOOKS'
recurse > recurse > recurse: 1 1 0 0 | 1236 2 0 0 1236 | 0 0 0
recurse > recurse: 1 1 0 0 | 1236 2 0 0 2472 | 0 0 0
recurse: 1 1 0 0 | 1236 2 0 0 3708 | 0 0 0
BOOKS
hazard 0 jumps <<'BOOKS'
outer > inner > inner: 100 0 100 0 | 124500 200 0 0 1245 | 0 0 0
outer > inner: 100 0 100 0 | 0 0 0 0 1245 | 0 0 0
outer: 100 100 0 0 | 0 0 0 0 1245 | 0 0 0
BOOKS
hazard 0 reallocs <<'BOOKS'
first: 1 1 0 0 | 1000 1 0 0 1000 | 0 0 0
second: 1 1 0 0 | 3500 2 4000 2 2000 | 0 0 0
third: 1 1 0 0 | 77 1 577 2 0 | 0 0 0
BOOKS
hazard 0 destroyed <<'BOOKS'
outer > inner: 1 1 0 5 | 1235 1 0 0 1235 | 0 0 0
outer: 1 1 0 0 | 0 0 0 0 1235 | 0 0 0
BOOKS
hazard 0 handlers <<'BOOKS'
work > handler: 500 500 0 0 | 2330000 500 0 0 4660 | 0 0 0
work: 500 500 0 0 | 100000 1000 0 0 4860 | 0 0 0
BOOKS
hazard 137 killed <<'BOOKS'
done: 1000 1000 0 0 | 16000 1000 0 0 16 | 0 0 0
half way: 1 0 0 0 | 11235 2 10000 1 11235 | 0 0 0
BOOKS
a=$(printf 'a%.0s' {1..119})
b=$(printf 'b%.0s' {1..119})
c=$(printf 'c%.0s' {1..118})
d=$(printf 'd%.0s' {1..60})
e=$(printf 'e%.0s' {1..60})
x=$(printf '\\x80%.0s' {1..120})
none="0 0 0 0 0 | 0 0 0"
LC_ALL=C sort >long.txt <<BOOKS
$(echo)
: 2 2 0 0 | $none
${a}a: 3 3 0 0 | $none
$a: 1 1 0 0 | $none
$b: 1 1 0 0 | $none
$c: 1 1 0 0 | $none
$d:$e: 1 1 0 0 | $none
$d:f: 1 1 0 0 | $none
$x: 1 1 0 0 | $none
line\\x0afeed\\x1b[31m: 1 1 0 0 | $none
BOOKS
sed -i '/^$/d' long.txt
profile "$TARGETS/scopes" long
books profile.json | LC_ALL=C sort | diff long.txt - || fail "long names are not cut as they should be"

# Exceptions: libstdc++'s own blocks are in scopes, too, so only some numbers are known.
profile "$TARGETS/scopes" exceptions
expect_complete
expect_eq "scopes that were left by exceptions" "$(books profile.json | sed 's/ |.*//' | tr '\n' ',')" \
  "around > throws > throws > throws > throws: 100 100 0 0,around > throws > throws > throws: 100 100 0 0,around > throws > throws: 100 100 0 0,around > throws: 100 100 0 0,around: 100 100 0 0,"

# A thread that ends in a scope leaves it open. Whether anybody has noticed by the end is open, too.
profile "$TARGETS/scopes" exits
expect_complete
expect_eq "scopes in which threads ended" "$(books profile.json | awk '{ print $0 ~ /^thread/ ? $1 " " $2 " " $3 : $0 }')" \
  "outer > never ended: 25 0 25 0 | 30875 25 0 0 1235 | 0 0 0
outer: 25 25 0 0 | 0 0 0 0 1235 | 0 0 0
thread: 25 0"

# A child is in none of its parent's scopes, and cannot end them.
for how in forks execs; do
  rm -f profile*.json
  profile "$TARGETS/scopes" $how
  expect_eq "$how: exit status" "$status" 0
  expect_complete
  expect_eq "$how: the parent's" "$(books profile.json)" "parent: 1 1 0 0 | 111 2 0 0 111 | 0 0 0"
  if [ $how = forks ]; then child=$(ls profile.*.json) ended=1; else child=$(ls profile.*.exec1.json) ended=0; fi
  expect_complete "$child"
  expect_eq "$how: the child's" "$(books "$child")" "child > parent: 1 1 0 0 | 5 1 0 0 5 | 0 0 0
child: 1 $ended 0 0 | 2470 2 0 0 2475 | 0 0 0"
done
expect_eq "the program that came by exec" "$(books "$(ls profile.*.json | grep -v exec1)" | tail -1)" \
  "recurse: 1 1 0 0 | 1236 2 0 0 3708 | 0 0 0"

# Handlers at any moment, in the middle of what the agent writes, too: no begin or end is lost.
profile "$TARGETS/scopes" timer
expect_complete
read -r rounds handled <out.txt
books profile.json >got.txt
expect_in got.txt "work: $rounds $rounds 0 0 | $((rounds * 100)) $rounds $((rounds * 100)) $rounds 100 | 0 0 0"
expect_eq "handlers' scopes" "$(awk '/handler:/ { sub(/.*:/, ""); begun += $1; ended += $2 } END { print begun, ended }' got.txt)" "$handled $handled"

# More names than there is room for: those behind them are one. (A name gets no room, too, where many that are like it
# in their hash were first: of 4,096, a few.)
profile "$TARGETS/scopes" names 2000
expect_complete
expect_eq "scopes" "$(json profile.json '.heapprof.scopes.scopes | [length, (map(.begun_count) | unique)] | tostring')" "[2000,[2]]"
profile "$TARGETS/scopes" names 6000
expect_complete
named=$(json profile.json '[.heapprof.scopes.scopes[] | select(.name != "(other names)")] | [length, (map(.begun_count) | unique)] | tostring')
count=$(tr -dc '0-9,' <<<"${named%%,*}")
expect_eq "scopes with a name" "$named" "[$count,[2]]"
[ "$count" -ge 4000 ] && [ "$count" -le 4096 ] || fail "$count names have room"
rest=$((2 * (6000 - count)))
expect_eq "scopes without" "$(books profile.json | grep '^(other')" "(other names): $rest $rest 0 0 | $((16 * rest)) $rest 0 0 16 | 0 0 0"

# More scopes open at a time than are kept, in more ways than are kept: said, and shown.
profile "$TARGETS/scopes" too_many 1100000
expect_eq "begun, and lost" "$(json profile.json '.heapprof.scopes | [(.scopes | map(.begun_count) | add), (.scopes | map(.ended_count) | add), .lost_count] | tostring')" "[1048576,1048576,51424]"
expect_eq "bytes in scopes" "$(json profile.json '[.heapprof.scopes.scopes[].memory[] | select(.device == "host").allocated_bytes] | add')" 1235
expect_status 0 "$HEAPPROF_BIN" report --scopes profile.json
expect_in out.txt "51,424 not counted for lack of room"

# Marks, and what is stable.
for i in 1 2; do
  profile "$TARGETS/scopes" marks
  expect_status 0 "$HEAPPROF_BIN" report --stable --bytes profile.json
  mv out.txt stable_$i.txt
done
diff stable_1.txt stable_2.txt || fail "two runs differ in what is stable"
expect_eq "marks" "$(json profile.json '[.heapprof.scopes.marks[] | "\(.name) \(.memory[] | select(.device == "host") | .live_bytes)"] | join(", ")' | sed 's/72704/0/g; s/1121280/1048576/g')" "start 0, loaded 1048576, loaded 0"

# The header in C and C++, by each compiler; a program that is linked statically is in no scope.
cat >plain.c <<'C'
#include <heapprof/heapprof.h>
#include <stdlib.h>

static int work(int n) {
  HEAPPROF_SCOPE("work");
  for (int i = 0; i < n; ++i) {
    HEAPPROF_SCOPE_IN("inner", "turn");
    g_block = malloc(16);
    free(g_block);
    if (i == 2) return i;
  }
  HEAPPROF_MARK("done");
  return n;
}
int main(void) { return work(9) + work(1) != 3; }
C
sed -i 's/^#include <stdlib.h>/&\n\nstatic void* volatile g_block;/' plain.c
cp plain.c plain.cc
for pair in gcc:g++ clang:clang++; do
  have "${pair#*:}" || { not_tried "${pair%:*} is not installed"; continue; }
  for language in "${pair%:*} -std=c11 plain.c" "${pair#*:} -std=c++11 plain.cc" "${pair#*:} -std=c++20 plain.cc"; do
    for level in -O0 -O2; do
      read -r compiler standard file <<<"$language"
      $compiler -Wall -Wextra -Wpedantic -Wshadow -Werror "-I$SOURCE/shared/include" $level "$standard" "$file" -o plain ||
        fail "$compiler $standard"
      ./plain || fail "$compiler $standard, without a profiler"
      expect_status 0 "$HEAPPROF_BIN" run -q -o profile.json -- ./plain
      expect_eq "$compiler $standard $level" "$(books profile.json)" "work > inner:turn: 4 4 0 0 | 64 4 64 4 16 | 0 0 0
work: 2 2 0 0 | 0 0 0 0 16 | 0 0 0"
      expect_eq "marks" "$(json profile.json '.heapprof.scopes.marks | length')" 1
    done
  done
done
if gcc -std=c11 -static "-I$SOURCE/shared/include" plain.c -o plain 2>err.txt; then
  expect_status 0 ./plain
else
  not_tried "a program that is linked statically"
fi
