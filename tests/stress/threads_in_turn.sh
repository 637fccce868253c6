#!/usr/bin/env bash
# A million threads, one after another: the rings of the dead are used again.
# usage: threads_in_turn.sh [THREADS]      env: HEAPPROF_BIN TARGETS SOURCE (defaults: build/release of this tree)
set -eu
SOURCE=${SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$SOURCE/build/release}
HEAPPROF_BIN=${HEAPPROF_BIN:-$BUILD/bin/heapprof}
TARGETS=${TARGETS:-$BUILD/tests/targets}
threads=${1:-1000000}
source "$SOURCE/tests/support/checks.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/heapprof-threads.XXXXXX")
cd "$work"
profile "$TARGETS/threads_in_turn" "$threads"
expect_eq "exit status" "$status" 0
expect_complete
leaked=$(((threads + 2) / 3))
expect_sum '^allocate_block' "$((threads * 1235)) $threads $((leaked * 1235)) $leaked"
cd / && rm -rf "$work"
echo "$threads threads, one after another: nothing lost"
