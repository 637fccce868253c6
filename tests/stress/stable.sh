#!/usr/bin/env bash
# Which tests fail without a fault: CI's tests in several rounds on a busy machine, beside two programs that count and
# one that fills and frees 4 GiB. Names each test that failed in a round, and how often; nothing is run a second time.
# usage: stable.sh [ROUNDS [ctest options]]      three rounds; -R, -E … choose tests
# env: BUILD (default: build/release of this tree)
set -eu
SOURCE=${SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$SOURCE/build/release}
rounds=${1:-3}
[ $# = 0 ] || shift
busy=()
trap 'kill "${busy[@]}" 2>/dev/null || true' EXIT
for _ in 1 2; do
  (while :; do :; done) &
  busy+=($!)
done
python3 -c 'while True: b"\1" * (4 << 30)' &
busy+=($!)

failed=()
for ((round = 1; round <= rounds; ++round)); do
  echo "== round $round"
  log=$BUILD/stable.$round.log
  status=0
  known=${#failed[@]}
  env -u HEAPPROF_LONG "$SOURCE/scripts/run-tests" "$BUILD" --strict -LE nightly "$@" >"$log" 2>&1 || status=$?
  tail -n 1 "$log"
  mapfile -t -O "$known" failed < <(tac "$log" | sed -n '2,${/^FAILED /!q; s///p}')
  [ $status = 0 ] || [ ${#failed[@]} -gt "$known" ] || failed+=("the-tests-of-round-$round")
  for pid in "${busy[@]}"; do
    kill -0 "$pid" 2>/dev/null || { echo "what should keep the machine busy has ended: less than 5 GiB of memory?"; exit 1; }
  done
done
[ ${#failed[@]} = 0 ] || printf '%s\n' "${failed[@]}" | sort | uniq -c | sort -rn | sed "s/^ *\([0-9]*\) /failed in \1 of $rounds rounds: /"
echo "$(printf '%s\n' "${failed[@]}" | sort -u | grep -c .) tests failed in $rounds rounds"
[ ${#failed[@]} = 0 ]
