# What NVML counts as in use, beside what was seen: asked by a helper of its own, never in the way of the run.
mib=$((1 << 20))
hold=$((100 * mib))
export FAKE_CUDA_OVERHEAD=1 FAKE_NVML="$PWD/use"
use() { jq -r '.heapprof.devices[] | select(.name == "cuda:0") | .use | [.max_bytes, .seen_at_max_bytes, .is_of_all, .samples_count > 0] | join(" ")' "$1"; }
missing_use() { jq -r '.heapprof.devices[] | select(.name == "cuda:0") | .use | "\(.samples_count) \(.missing)"' profile.json; }
report() { "$HEAPPROF_BIN" report --color never profile.json >report.txt || fail "report: $?"; }
held() { # ARGUMENTS…: of cuda_use
  rm -f use
  profile "$TARGETS/cuda_use" "$@"
  expect_eq "exit status" "$status" 0
}

# await_missing WANT: until the profile of a program that holds memory, taken while it runs, says so.
await_missing() {
  "$HEAPPROF_BIN" run -q -o stays.json -- "$TARGETS/cuda_use" $hold stay &
  cli=$!
  wait_for 60 "'$1' in a profile" says_missing "$1"
  expect_in snapshot.txt ", cuda:0 100 MiB"
  kill -KILL "$program"
  wait $cli || :
}
says_missing() {
  program=$(pgrep -P $cli -x cuda_use) && "$HEAPPROF_BIN" snapshot -o profile.json "$program" 2>snapshot.txt &&
    [ "$(missing_use)" = "$1" ]
}
cli='' program=''
at_end() { kill -KILL $cli $program 2>/dev/null || true; }

# Without the library, and without a driver behind it.
unset LD_LIBRARY_PATH FAKE_NVML
ldconfig -p 2>/dev/null | grep -q libnvidia-ml.so.1 ||
  await_missing "0 libnvidia-ml.so.1: cannot open shared object file: No such file or directory"
export LD_LIBRARY_PATH="$BUILD/tests/fake_cuda"
await_missing "0 Driver Not Loaded"
report
expect_in report.txt "in use by NVML's count: not known (Driver Not Loaded)"
export FAKE_NVML="$PWD/use"

# This process's own.
held $hold
expect_eq "in use, seen" "$(use profile.json)" "$((hold + 64 * mib)) $hold false true"
expect_in err.txt "cuda:0: in use by NVML's count: at most 164 MiB (sampled): seen 100 MiB, unattributed ≈ 64.0 MiB"
report
expect_in report.txt "unattributed ≈ 64.0 MiB"
expect_eq "in JSON" "$("$HEAPPROF_BIN" report --format json profile.json | jq '.devices[] | select(.name == "cuda:0") | .use.max_bytes')" $((hold + 64 * mib))
cp profile.json one.json
FAKE_NVML_IS=old held $hold
expect_eq "from a driver of before 2020" "$(use profile.json)" "$((hold + 64 * mib)) $hold false true"
rm -f use
"$HEAPPROF_BIN" run --color never --estimate-gpu -o estimated.json -- "$TARGETS/cuda_use" $hold 2>err.txt || fail "--estimate-gpu: $?"
said() { tr -s ' \n' ' ' <"$1" | grep -qF -- "$2" || { cat "$1" >&2; fail "'$2' is not in $1"; }; }
said err.txt "seen 100 MiB, unattributed ≈ 64.0 MiB (contexts and modules, over the run: ≤ 64.0 MiB)"

# Where it knows of no process, all that is in use is a bound.
FAKE_NVML_IS=blind held $hold
expect_eq "in use by all" "$(use profile.json)" "$((hold + 69 * mib)) $hold true true"
said err.txt "cuda:0: in use by all processes by NVML's count: at most 169 MiB (sampled): seen 100 MiB, others' and unattributed ≤ 69.0 MiB"

# Each process has its own.
held $hold $((30 * mib))
expect_eq "the parent's" "$(use profile.json)" "$((hold + 64 * mib)) $hold false true"
child=$(ls profile.json.* profile.*.json 2>/dev/null | head -1)
expect_eq "the child's" "$(use "$child")" "$((94 * mib)) $((30 * mib)) false true"
"$HEAPPROF_BIN" merge -o sum.json profile.json "$child" 2>/dev/null || fail "merge: $?"
expect_eq "together" "$(use sum.json)" "$((hold + 158 * mib)) $((hold + 30 * mib)) false true"

# A driver that never answers holds up nobody, and nothing is left behind.
helpers() { grep -lzsxF "FAKE_NVML=$FAKE_NVML" $(grep -lsx heapprof-nvml /proc/[0-9]*/comm | sed 's/comm$/environ/') /dev/null || :; }
FAKE_NVML_IS=hanging held $hold
expect_eq "nothing was said" "$(missing_use)" "0 NVML had said nothing by then"
has_helper() { [ -n "$(helpers)" ]; }
has_no_helper() { ! has_helper; }
wait_for 60 "the helper's end" has_no_helper
FAKE_NVML_IS=hanging "$HEAPPROF_BIN" run -q -o killed.json -- "$TARGETS/cuda_use" $hold stay &
cli=$!
wait_for 60 "a helper" has_helper
program=$(pgrep -P $cli -x cuda_use) || fail "there is no program"
kill -KILL $cli
wait_for 60 "the end of the helper of a tool that was killed" has_no_helper
kill -KILL "$program"
if have strace; then
  strace -f -qq -e trace=execve -o calls.txt "$HEAPPROF_BIN" run -q -o none.json -- true || fail "strace: $?"
  expect_not_in calls.txt heapprof-nvml
fi
