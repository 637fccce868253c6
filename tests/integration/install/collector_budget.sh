# What the collector costs, and what follows the program's end, as a count of instructions, which repeats on every
# machine: no more than tests/bench/collector_budget.txt says. And a tape that is played again, without Valgrind, gives
# the same books.
have valgrind || skip "valgrind is not installed"
bench=$BUILD/tests/bench_collect
[ -x "$bench" ] || skip "bench_collect is not built"
counted() {  # COMMAND…: its instructions; what it says is in out.txt
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>err.txt >out.txt
  awk '/Collected/ { print $NF }' err.txt
}
compare() {  # WHAT GOT WANT; 3 % for what a compiler's next patch may do
  echo "$1: $2 instructions, budget $3" >&2
  [ -z "${HEAPPROF_REGOLD:-}" ] || { echo "$1 $2"; return; }
  [ "$2" -le $(($3 + $3 * 3 / 100)) ] || fail "$1: $2 instructions, more than $3"
  [ "$2" -ge $(($3 - $3 * 10 / 100)) ] || fail "$1: $2 instructions, far below $3: lower the budget"
}
while read -r shape want; do
  case $shape in
    end_*)
      short=$(counted "$BUILD/tests/bench_assemble" "${shape#end_}" 10000)
      long=$(counted "$BUILD/tests/bench_assemble" "${shape#end_}" 20000)
      compare "$shape" $(((long - short) / 10000)) "$want"
      continue
      ;;
  esac
  "$bench" --make short "$shape" 50000
  "$bench" --make long "$shape" 150000
  short=$(counted "$bench" --replay short)
  long=$(counted "$bench" --replay long)
  compare "$shape" $(((long - short) / 100000)) "$want"
  mv out.txt first.txt
  "$bench" --replay long >second.txt
  expect_eq "$shape: the books of the same tape" "$(grep -o 'books .*' second.txt)" "$(grep -o 'books .*' first.txt)"
  [ "$(grep -oE '[0-9]+ stays' first.txt | cut -d ' ' -f 1)" -gt 1000 ] || fail "$shape: there are next to no stays"
done < <(grep -v '^#' "$SOURCE/tests/bench/collector_budget.txt")
