#!/usr/bin/env bash
# Runs one test script in a fresh folder; keeps the folder and prints how to repeat when it fails. Where the script has
# made a function at_end, that is called behind it.
# usage: run_script.sh SCRIPT      env: HEAPPROF_BIN TARGETS BUILD SOURCE
set -u
script=$1
readonly test_name=${1//\//+}
helpers="source \$SOURCE/tests/support/checks.sh"
[[ $script != */tests/cli/* ]] || helpers+="; source \$SOURCE/tests/support/cli_checks.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/heapprof-test.XXXXXX")
cd "$work" || exit 1
unset HEAPPROF LD_PRELOAD DEBUGINFOD_URLS PYTHONMALLOC PYTHONOPTIMIZE
# What comes from a network is kept between runs; all else has a cache of its own.
export HEAPPROF_TEST_CACHE=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/heapprof
export XDG_CACHE_HOME=$work.cache
eval "$helpers"
set -e
# What it cost, whatever ran beside it: scripts/run-tests lists the dearest.
note_cost() {
  mkdir -p "$BUILD/tests/cost"
  builtin times >"$work.times"  # not into a pipe: that would be another process's
  awk -v name="${test_name##*+}" -F '[ms ]+' 'NR == 2 { printf "%.1f %s\n", $1 * 60 + $2 + $3 * 60 + $4, name }' "$work.times" >"$BUILD/tests/cost/$test_name"
  rm -f "$work.times"
}
trap 'status=$?; ! declare -F at_end >/dev/null || at_end; cd /; if [ $status -eq 0 ] || [ $status -eq 77 ]; then rm -rf "$work" "$work.cache"; else
  echo "kept: $work"; echo "repeat: cd $work && HEAPPROF_BIN=$HEAPPROF_BIN TARGETS=$TARGETS BUILD=$BUILD SOURCE=$SOURCE bash -c '\''$helpers; set -e; source $script'\''"; fi; note_cost || true' EXIT
source "$script"
