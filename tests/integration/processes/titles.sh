# Workers that give themselves titles are told apart by them in the table of processes, with paths in them too; also by
# one that comes after the first block, of a worker that has ended by then.
at_end() { [ ! -s out.txt ] || kill -9 $(cat out.txt) 2>/dev/null || true; }
mkfifo input
"$HEAPPROF_BIN" run --all-processes -o profile.json -- "$TARGETS/titles" "$(printf 'x%.0s' $(seq 250))" <input >out.txt 2>err.txt &
run=$!
exec 4>input
wait_for 60 "four workers" has_lines out.txt 4
late=$(tail -n 1 out.txt)
has_title() { "$HEAPPROF_BIN" snapshot -q -o now.json "$late" && [ "$(json now.json .heapprof.run.title)" = "nginx: cache manager process" ]; }
wait_for 60 "a title that came late" has_title
kill -9 "$late"
exec 4>&-
wait $run || fail "exit status $?"
titles=('nginx: worker process' 'chromium --type=renderer' 'postgres: 15/main: checkpointer' 'nginx: cache manager process')
number=0
while read -r worker; do
  check_profile profile.$worker.json
  grep -F " $worker " err.txt | grep -qF -- "${titles[number]}" || { cat err.txt >&2; fail "the row of worker $number is not called '${titles[number]}'"; }
  number=$((number + 1))
done <out.txt
expect_eq "workers" $number 4
# What runs are paired by is the command. The page, the report and its rows say the title.
expect_eq "the command" "$(json "profile.$late.json" '.heapprof.run.command[0]')" "$TARGETS/titles"
expect_eq "titles of the others" "$(json profile.json '[.heapprof.run.title] + [.heapprof.processes[].title] | sort | join(",")')" ",,,,nginx: cache manager process"
"$HEAPPROF_BIN" report "profile.$late.json" >report.txt
expect_in report.txt "'nginx: cache manager process'"
"$HEAPPROF_BIN" report profile.json >report.txt
expect_in report.txt "'nginx: cache manager process'"
