# heapprof doctor: every check has its line, what is not ok its fix, and the exit status says whether programs can be profiled.
export LC_ALL=C.UTF-8
expect_status 0 "$HEAPPROF_BIN" doctor
cp out.txt here.txt
expect_eq "words on stderr" "$(cat err.txt)" ""
for name in agent verification libc nvml kernel memfd membarrier pidfd fork seccomp ptrace "address space" clock "open files" \
  "memory limit" "locked memory" "control group" /proc "abstract socket" "socket file" debuginfod; do
  grep -qE "^(ok|warning) +$name " here.txt || fail "no line about $name: $(cat here.txt)"
done
expect_in here.txt "heapprof can profile programs here"
for columns in 80 120; do
  COLUMNS=$columns "$HEAPPROF_BIN" doctor >wide.txt
  [ "$(wc -L <wide.txt)" -le $((columns + 30)) ] || fail "a line is much wider than $columns columns: $(cat wide.txt)"
done
[ -z "$(ls -d "${TMPDIR:-/tmp}"/heapprof-doctor-* 2>/dev/null)" ] || fail "it left a file behind"

# What is said follows what there is.
find_of() { jq -r --arg name "$1" '.checks[] | select(.name == $name) | .finding' found.json; }
what_of() { jq -r --arg name "$1" '.checks[] | select(.name == $name) | .what' found.json; }
(ulimit -n 100; ulimit -v 400000; TMPDIR=/nonexistent DEBUGINFOD_URLS=https://names.example "$HEAPPROF_BIN" doctor --format json >found.json)
expect_eq "open files with few" "$(find_of "open files")" warning
expect_eq "memory limit when tight" "$(find_of "memory limit")" warning
expect_eq "socket file without a folder" "$(find_of "socket file")" warning
expect_eq "debuginfod" "$(what_of debuginfod)" "missing names are asked of https://names.example"
jq -e '[.checks[] | select(.finding != "ok") | .fix] | all(. != null and . != "")' found.json >/dev/null || fail "a finding without a fix: $(cat found.json)"

# NVML, as far as the fake one goes.
fake() { LD_LIBRARY_PATH="$BUILD/tests/fake_cuda" "$HEAPPROF_BIN" doctor --format json >found.json || fail "doctor: $?"; }
FAKE_NVML=use fake
expect_eq "NVML" "$(find_of nvml) $(what_of nvml)" "ok says what is in use on GPUs, and so what is unattributed"
fake
expect_eq "NVML without a driver" "$(find_of nvml) $(what_of nvml)" "warning what is unattributed on GPUs will not be known: Driver Not Loaded"
FAKE_NVML_IS=hanging fake
expect_eq "NVML that hangs" "$(find_of nvml) $(what_of nvml)" "warning what is unattributed on GPUs will not be known: NVML does not answer"

# An installation without its agent, and one whose agent cannot be loaded.
mkdir -p broken/bin broken/lib/heapprof
cp "$HEAPPROF_BIN" broken/bin/
expect_status 1 broken/bin/heapprof doctor
grep -qE '^missing +agent ' out.txt || fail "no word about the agent: $(cat out.txt)"
expect_in out.txt "fix: "
expect_in out.txt "heapprof cannot profile programs here: 1 of"
echo "no library" >broken/lib/heapprof/libheapprof.so
expect_status 1 broken/bin/heapprof doctor
tr -s ' \n' ' ' <out.txt >words.txt
expect_in words.txt "with it preloaded said nothing"


expect_status 2 "$HEAPPROF_BIN" doctor --format csv
expect_status 2 "$HEAPPROF_BIN" doctor now
expect_in err.txt "'now' is one argument too many [HP058]"
