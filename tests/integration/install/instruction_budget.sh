# What the hot path costs, as a count of instructions, which repeats on every machine: no more than
# tests/bench/budget.txt says.
have valgrind || skip "valgrind is not installed"
unset LD_PRELOAD
g++ -O2 -g -I"$SOURCE/shared/include" "$SOURCE/tests/bench/tight.cc" -o tight -pthread
g++ -O2 -fPIC -shared -fno-builtin "$SOURCE/tests/bench/one_object.cc" -o libone_object.so
g++ -O2 -g -I"$SOURCE/shared/include" "$SOURCE/tests/bench/tight.cc" -o tight_new -pthread -L. -lone_object -Wl,-rpath,"$PWD"
# A copy of the process, in which functions are tried, may come to print its own count first.
collected() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null | awk '/Collected/ { last = $NF } END { print last }'; }
export -f collected
# Instructions of a pair: two runs of different lengths, so that what happens once drops out.
per_pair() {
  local short long
  short=$("$@" bash -c "collected $program $depth $before 3000 $flags")
  long=$("$@" bash -c "collected $program $depth $before 9000 $flags")
  [ -n "$short" ] && [ -n "$long" ] || fail "no counts of: $*"
  echo $(((long - short) / 6000))
}
export PYTHONHASHSEED=0
# One row of each kind; all of them in scripts/nightly, and where new figures are made.
is_chosen() {  # DEPTH SHAPE
  [ -z "${HEAPPROF_LONG:-}${HEAPPROF_REGOLD:-}" ] || return 0
  case "$*" in "0 start" | "30 pair" | "30 threaded" | "25 callees" | "25 callers" | "25 new" | "30 python_same" | "6 python_codes") ;; *) return 1 ;; esac
}
while read -r depth shape want; do
  is_chosen "$depth" "$shape" || continue
  program=./tight
  before=
  flags="--shape $shape"
  case $shape in
    threaded) flags=--threaded ;;
    new) program=./tight_new ;;
    python_*) program="$PYTHON -I -S $SOURCE/tests/bench/python_pairs.py" before=${shape#python_} flags='' ;;
  esac
  heapprof_run=("$HEAPPROF_BIN" run -q --clock=tsc -o p.json --)
  if [ "$shape" = start ]; then
    got=$(($("${heapprof_run[@]}" bash -c 'collected /bin/true') - $(collected /bin/true)))
  else
    got=$(($(per_pair "${heapprof_run[@]}") - $(per_pair)))
  fi
  echo "depth $depth, $shape: $got instructions, budget $want" >&2
  if [ -n "${HEAPPROF_REGOLD:-}" ]; then
    echo "$depth $shape $got"
    continue
  fi
  # 3 % for what a compiler's next patch may do
  [ "$got" -le $((want + want * 3 / 100)) ] || fail "depth $depth, $shape: $got instructions, more than $want"
  [ "$got" -ge $((want - want * 10 / 100)) ] || fail "depth $depth, $shape: $got instructions, far below $want: lower the budget"
done < <(grep -v '^#' "$SOURCE/tests/bench/budget.txt")
