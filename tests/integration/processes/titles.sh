# Workers that give themselves titles are told apart by them in the table of processes, with paths in them too.
at_end() { [ ! -s out.txt ] || kill -9 $(cat out.txt) 2>/dev/null || true; }
expect_status 0 "$HEAPPROF_BIN" run --all-processes -o profile.json -- "$TARGETS/titles" "$(printf 'x%.0s' $(seq 250))"
expect_eq "workers" "$(wc -l <out.txt)" 3
titles=('nginx: worker process' 'chromium --type=renderer' 'postgres: 15/main: checkpointer')
number=0
while read -r worker; do
  check_profile profile.$worker.json
  grep -F " $worker " err.txt | grep -qF -- "${titles[number]}" || { cat err.txt >&2; fail "the row of worker $number is not called '${titles[number]}'"; }
  number=$((number + 1))
done <out.txt
