# --processes each: the program's limits, a name of its own; an exit code is its parent's to judge.
with_suite
expect_status 1 check --max-leaked 5KiB --processes each --json x.json --history ci.jsonl --commit c0ffee -o kept.json -- sh suite.sh
expect_eq "verdicts" "$(jq -r '.checks[] | .name + " " + .outcome' x.json | xargs)" \
  "sh ok sh.leaky fail sh.leaky 2 fail sh.sh ok"
expect_eq "commands" "$(jq -c '[.checks[].command | join(" ")]' x.json)" '["sh suite.sh","./leaky","./leaky more","sh -c exit 5"]'
expect_eq "what is not judged" "$(jq -c '[.checks[].processes_not_judged_count] | add' x.json)" 0
expect_in out.txt "FAIL  sh.leaky  host live at exit  6.03 KiB  limit 5.00 KiB"
expect_not_in err.txt "not judged"
expect_eq "history" "$(jq -r .name ci.jsonl | xargs)" "sh sh.leaky sh.leaky 2 sh.sh"
expect_eq "the program's profile" "$(jq -c .heapprof.run.command kept.json)" '["sh","suite.sh"]'
[ -f heapprof.check.sh.leaky.json ] || fail "the profile of a process over its limit is not kept: $(ls)"
expect_status 0 check --max-leaked 1MiB --processes each --runs 2 -- sh suite.sh
expect_eq "medians" "$(grep -c 'median of 2 runs' out.txt)" 4
