#!/usr/bin/env bash
# SIGKILL at random moments, for hours if need be: trees of processes and threads, rings full and not, against the
# targets' counts.
# usage: random_kills.sh [KILLS] [SEED]      env: HEAPPROF_BIN TARGETS SOURCE (defaults: build/release of this tree)
# Every combination of kill × fork × full ring × 1, 8, 64 threads gets its share; the rest of the kills is mixed.
set -eu
SOURCE=${SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$SOURCE/build/release}
export HEAPPROF_BIN=${HEAPPROF_BIN:-$BUILD/bin/heapprof} TARGETS=${TARGETS:-$BUILD/tests/targets}
kills=${1:-300}
seed=${2:-1}
python=$(command -v /usr/bin/python3 || command -v python3)
share=$((kills / 24 > 1 ? kills / 24 : 1))
for processes in 1 3; do
  for threads in 1 8 64; do
    for full in no yes; do
      printf '%d processes, %2d threads each, full ring: %-3s ' $processes $threads $full
      "$python" "$SOURCE/tests/support/random_kills.py" "$share" "$seed" --processes $processes --threads $threads --full $full
    done
  done
done
printf 'mixed: '
"$python" "$SOURCE/tests/support/random_kills.py" $((kills / 2)) "$seed"
