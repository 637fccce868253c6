# heapprof doctor: every check has its line, and the exit status says whether programs can be profiled.
mkdir temporary
export TMPDIR=$PWD/temporary  # of no other test
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
expect_eq "what it left behind" "$(ls -A temporary)" ""
