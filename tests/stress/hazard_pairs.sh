#!/usr/bin/env bash
# Two hazards at a time: what a program does to itself × what is around it, or which way heapprof takes. Exit status and
# output must be those without heapprof, and the numbers those of the program under heapprof alone.
# usage: hazard_pairs.sh [COUNT [SEED]]      all pairs, or COUNT of them chosen by SEED
# env: HEAPPROF_BIN TARGETS SOURCE (defaults: build/release of this tree)
set -eu
SOURCE=${SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$SOURCE/build/release}
HEAPPROF_BIN=${HEAPPROF_BIN:-$BUILD/bin/heapprof}
TARGETS=${TARGETS:-$BUILD/tests/targets}
source "$SOURCE/tests/support/checks.sh"
count=${1:-0}
RANDOM=${2:-1}
work=$(mktemp -d "${TMPDIR:-/tmp}/heapprof-pairs.XXXXXX")
chmod 755 "$work"
cd "$work"
ulimit -c 0

programs=("ends sigkill 5000 counts" "ends abort 5000 counts" "ends segv 5000 counts" "ends quick_exit 5000 counts"
  "odd_threads waves 50 3" "odd_threads cancelled 20" "odd_threads small_stacks 20" "coroutines context 50 20"
  "coroutines handmade 50 20" "dlopen_again $TARGETS/plugin_alpha.so $TARGETS/plugin_beta.so 25" "deep_recursion 5000"
  "around_main" "realloc_chain" "zero_bytes" "threads_at_once 64 200" "handovers 2 20000" "closes_descriptors stdio"
  "workers counts 3 8 done 2000" "workers counts 1 1 done 100000")
for what in $("$TARGETS/restricts_itself"); do programs+=("restricts_itself $what"); done
arounds=("--clock sequence" "--fence global" "--fence producer" "--unwinder libunwind" "--no-follow" "--stall-timeout 1"
  "env LD_BIND_NOW=1" "setarch -R" "taskset -c 0" "prlimit --nofile=64" "unshare -U -r" "unshare -n" "fakeroot" "faketime 2020-01-01"
  "strace -f -o /dev/null" "timeout 60" "nohup")
jemalloc=$(ldconfig -p | awk '$1 == "libjemalloc.so.2" { print $NF; exit }')
[ -z "$jemalloc" ] || arounds+=("env LD_PRELOAD=$jemalloc")

# What the program's own functions allocated, of whichever profile here has it.
sums() { for file in profile*.json; do sum '^(allocate(?!_dtv|_stack)|descend|grow|alpha_|beta_|construct_early|destruct_late)' "$file"; done | sort | tail -n 1; }
clean() { rm -rf counts empty_root nohup.out profile*.json; }

run_pair() {  # PROGRAM AROUND
  local program=$1 around=$2 plain=0 got=0 flags="" wrapper=""
  [ -z "${HEAPPROF_PAIRS_VERBOSE:-}" ] || echo "$program × $around"
  case $around in -*) flags=$around ;; *) wrapper=$around ;; esac
  # A limit that is stated (agent/README.md): within RLIMIT_MEMLOCK there is no room for the agent's address space.
  case $program/$around in *all_locked/unshare*-U*) return 77 ;; esac
  clean
  timeout 100 $wrapper "$TARGETS/"$program >plain_out.txt 2>plain_err.txt </dev/null || plain=$?
  case $plain in 97 | 125 | 126 | 127 | 1) return 77 ;; esac
  clean
  timeout 100 "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/"$program >/dev/null 2>&1 </dev/null || true
  local want
  want=$(sums)
  clean
  timeout 100 "$HEAPPROF_BIN" run -q $flags -o profile.json -- $wrapper "$TARGETS/"$program >out.txt 2>err.txt </dev/null || got=$?
  expect_eq "exit status of '$program' with '$around'" $got $plain
  cmp -s out.txt plain_out.txt || { diff plain_out.txt out.txt || true; fail "stdout of '$program' with '$around'"; }
  case $around in strace*) ;; *) cmp -s err.txt plain_err.txt || { cat err.txt; fail "stderr of '$program' with '$around'"; } ;; esac
  check_profile profile*.json
  expect_eq "what '$program' allocated with '$around'" "$(sums)" "$want"
}
tried=0 not_possible=0 failed=0
judge_pair() {  # PROGRAM|AROUND: a pair that fails does not hide the others
  local status=0
  set +e
  (set -e; run_pair "${1%|*}" "${1##*|}")
  status=$?
  set -e
  case $status in 0) tried=$((tried + 1)) ;; 77) not_possible=$((not_possible + 1)) ;; *) failed=$((failed + 1)) ;; esac
}
pairs=()
for program in "${programs[@]}"; do
  for around in "${arounds[@]}"; do
    case $around in -*) ;; *) have "${around%% *}" && $around true >/dev/null 2>&1 </dev/null || continue ;; esac
    pairs+=("$program|$around")
  done
done
if [ "$count" = 0 ]; then
  for pair in "${pairs[@]}"; do judge_pair "$pair"; done
else
  for _ in $(seq "$count"); do
    judge_pair "${pairs[$((RANDOM % ${#pairs[@]}))]}"
  done
fi
[ "$failed" = 0 ] || { echo "$failed of $((tried + failed)) pairs failed; kept: $work"; exit 1; }
cd / && rm -rf "$work"
echo "$tried of ${#pairs[@]} pairs tried, all as without heapprof; $not_possible are not possible here"
