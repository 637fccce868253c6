# What the hot path costs, as a count of instructions, which repeats on every machine: no more than
# tests/bench/budget.txt says.
have valgrind || skip "valgrind is not installed"
unset LD_PRELOAD
g++ -O2 -g -I"$SOURCE/shared/include" "$SOURCE/tests/bench/tight.cc" -o tight -pthread
g++ -O2 -fPIC -shared -fno-builtin "$SOURCE/tests/bench/one_object.cc" -o libone_object.so
g++ -O2 -g -I"$SOURCE/shared/include" "$SOURCE/tests/bench/tight.cc" -o tight_new -pthread -L. -lone_object -Wl,-rpath,"$PWD"
collected() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null | awk '/Collected/ { print $NF }'; }
export -f collected
# Instructions of a pair: two runs of different lengths, so that what happens once drops out.
per_pair() {
  local short long
  short=$("$@" bash -c 'collected ./$1 "$0" 3000 $2' "$depth" "$program" "$flags")
  long=$("$@" bash -c 'collected ./$1 "$0" 9000 $2' "$depth" "$program" "$flags")
  [ -n "$short" ] && [ -n "$long" ] || fail "no counts of: $*"
  echo $(((long - short) / 6000))
}
while read -r depth shape want; do
  program=tight
  flags="--shape $shape"
  case $shape in
    threaded) flags=--threaded ;;
    new) program=tight_new ;;
  esac
  got=$(($(per_pair "$HEAPPROF_BIN" run -q -o p.json) - $(per_pair)))
  echo "depth $depth, $shape: $got instructions a pair, budget $want" >&2
  if [ -n "${HEAPPROF_REGOLD:-}" ]; then
    echo "$depth $shape $got"
    continue
  fi
  # 3 % for what a compiler's next patch may do
  [ "$got" -le $((want + want * 3 / 100)) ] || fail "depth $depth, $shape: $got instructions a pair, more than $want"
  [ "$got" -ge $((want - want * 10 / 100)) ] || fail "depth $depth, $shape: $got instructions a pair, far below $want: lower the budget"
done < <(grep -v '^#' "$SOURCE/tests/bench/budget.txt")
