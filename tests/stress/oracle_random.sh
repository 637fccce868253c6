#!/usr/bin/env bash
# The oracle at random seeds for so many minutes. Prints each seed; a failure says how to repeat it.
# usage: oracle_random.sh MINUTES [SEED]      env: HEAPPROF_BIN TARGETS SOURCE (defaults: build/release of this tree)
set -eu
SOURCE=${SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$SOURCE/build/release}
HEAPPROF_BIN=${HEAPPROF_BIN:-$BUILD/bin/heapprof}
TARGETS=${TARGETS:-$BUILD/tests/targets}
PYTHON=$(command -v /usr/bin/python3 || command -v python3)
seconds=$(awk -v minutes="${1:?usage: oracle_random.sh MINUTES [SEED]}" 'BEGIN { printf "%d", minutes * 60 }')
seed=${2:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
work=$(mktemp -d "${TMPDIR:-/tmp}/heapprof-oracle.XXXXXX")
cd "$work"
runs=0 blocks=0 end=$((SECONDS + seconds))
while [ $SECONDS -lt $end ]; do
  threads=$((1 << (seed % 7)))
  if [ $((seed / 7 % 2)) = 0 ]; then mode=free flags=h; else mode=barrier flags=; fi
  operations=$((20000 + seed / 14 % 10 * 60000))
  stacks=$((64 + seed / 140 % 8 * 128))
  case $((seed / 1120 % 6)) in
    1) how="--clock sequence" ;;
    2) how="--fence global" ;;
    3) how="--fence producer" ;;
    4) how="--unwinder libunwind" ;;
    *) how= ;;
  esac
  arguments="$seed $threads $operations $mode"
  "$HEAPPROF_BIN" run -q $how -o rest.json -- "$TARGETS/oracle" "$seed" "$threads" 0 "$mode" rest_books.json "$stacks" "$flags"
  "$HEAPPROF_BIN" run -q --all-sites $how -o profile.json -- "$TARGETS/oracle" $arguments books.json "$stacks" "$flags"
  "$PYTHON" "$SOURCE/tests/support/check_profile.py" profile.json
  if ! "$PYTHON" "$SOURCE/tests/support/compare_oracle.py" books.json profile.json --rest rest.json --quiet; then
    echo "kept: $work"
    echo "repeat: heapprof run --all-sites $how -o profile.json -- $TARGETS/oracle $arguments books.json $stacks $flags"
    exit 1
  fi
  blocks=$((blocks + $(sed -nE 's/.*"total_blocks": ([0-9]+).*/\1/p' books.json | head -1)))
  runs=$((runs + 1)) seed=$((seed + 1))
done
cd / && rm -rf "$work"
echo "oracle: $runs runs, $blocks blocks, all equal; next seed $seed"
