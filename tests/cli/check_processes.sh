# heapprof check of a program that starts others: what is judged, by which budget, and what is said of the rest.
export LC_ALL=C.UTF-8 COLUMNS=100
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY
cp "$TARGETS/leaky" .
check() { "$HEAPPROF_BIN" check "$@"; }
cat >suite.sh <<'SUITE'
./leaky
./leaky more
sh -c "exit 5"
:
SUITE

# The program alone: the rest is named, in every format.
all=(--summary x.md --junit x.xml --codequality x.cq --metrics x.om --sarif x.sarif --json x.json --bmf x.bmf --gha-benchmark x.gha)
expect_status 0 check --max-peak 1MiB --annotations github "${all[@]}" -- sh suite.sh
expect_in err.txt "3 processes that the program started were not judged: only the program itself is [HP161]"
expect_in out.txt "1 limit kept · 3 processes that it started were not judged"
expect_in out.txt "::warning title=heapprof sh::3 processes that it started were not judged"
expect_in x.md "3 processes that it started were not judged."
expect_in x.xml '<skipped message="3 processes that it started were not judged"/>'
expect_in x.xml 'tests="2" failures="0" errors="0" skipped="1"'
expect_in x.om 'heapprof_processes_not_judged{budget="sh"} 3'
expect_eq "Code Quality" "$(jq -r '.[] | .severity + " " + .check_name + " " + .description' x.cq)" \
  "info heapprof/processes sh: 3 processes that it started were not judged"
expect_eq "SARIF" "$(jq -r '.runs[0].results[] | .level + " " + .ruleId' x.sarif)" "note heapprof/processes"
expect_eq "JSON" "$(jq -c '.checks[] | [.processes_not_judged_count, .programs_replaced_count]' x.json)" "[3,0]"
expect_eq "Bencher" "$(jq -c '.sh["processes-not-judged"].value' x.bmf)" 3
expect_eq "github-action-benchmark" "$(jq -c '.[] | select(.unit == "processes") | .value' x.gha)" 3
expect_status 0 check --max-peak 1MiB -- sh -c 'exec ./leaky'
expect_in err.txt "1 program that another replaced by exec was not judged: only what a process was in the end is [HP164]"
expect_in out.txt "1 program replaced by exec was not judged"

# Each process: the program's limits, a name of its own; an exit code is its parent's to judge.
expect_status 1 check --max-leaked 5KiB --processes each --json x.json --history ci.jsonl --commit c0ffee -o kept.json -- sh suite.sh
expect_eq "verdicts" "$(jq -r '.checks[] | .name + " " + .outcome' x.json | xargs)" \
  "sh ok sh.leaky fail sh.leaky 2 fail sh.sh ok"
expect_eq "commands" "$(jq -c '[.checks[].command | join(" ")]' x.json)" '["sh suite.sh","./leaky","./leaky more","sh -c exit 5"]'
expect_eq "what is not judged" "$(jq -c '[.checks[].processes_not_judged_count] | add' x.json)" 0
expect_in out.txt "FAIL  sh.leaky  host leaked  6.03 KiB  limit 5.00 KiB"
expect_not_in err.txt "not judged"
expect_eq "history" "$(jq -r .name ci.jsonl | xargs)" "sh sh.leaky sh.leaky 2 sh.sh"
expect_eq "the program's profile" "$(jq -c .heapprof.run.command kept.json)" '["sh","suite.sh"]'
[ -f heapprof.check.sh.leaky.json ] || fail "the profile of a process over its limit is not kept: $(ls)"
expect_status 0 check --max-leaked 1MiB --processes each --runs 2 -- sh suite.sh
expect_eq "medians" "$(grep -c 'median of 2 runs' out.txt)" 4
rm -f heapprof.check.*

# A crash is one, wherever it happens.
expect_status 4 check --max-leaked 1MiB --processes each -- sh -c 'sh -c "kill -SEGV \$\$"; :'
expect_in out.txt "FAIL  sh.sh  the program failed: killed by SIGSEGV"
expect_status 0 check --max-leaked 1MiB --processes each -- sh -c 'sh -c "kill -TERM \$\$"; :'

# With a file: who has a budget is judged by it; a device or a site has to be in one process, not in all.
cat >each.toml <<'TOML'
version = 1
[[budget]]
name = "suite"
command = ["sh", "suite.sh"]
processes = "each"
total = "1 MiB"
  [[budget.site]]
  match = "main"
  allocations = 100
[[budget]]
name = "one"
command = ["build/leaky", "more"]
leaked = "1 KiB"
TOML
expect_status 1 check --budget each.toml --name suite --json x.json
expect_eq "whose budget" "$(jq -r '.checks[] | .name + " " + .outcome' x.json | xargs)" "suite ok suite.leaky ok one fail suite.sh ok"
expect_not_in err.txt "HP147"
expect_in out.txt "ok  suite.leaky  main allocations"
expect_status 0 check --budget each.toml --name suite --processes started
expect_in err.txt "HP161"
expect_in err.txt "no stack has a frame that matches 'main'"  # sh has none
printf 'version = 1\n[[budget]]\nname = "suite"\ncommand = ["sh", "suite.sh"]\nprocesses = "each"\npeak = { "cuda:0" = "1 MiB" }\n' >cuda.toml
expect_status 2 check --budget cuda.toml
expect_in err.txt "cuda.toml, line 6: the program used no device 'cuda:0', only host [HP145]"

# Without a limit there is nothing to hold against them: the baseline is of the program.
expect_status 0 check --max-peak 1MiB -o base.json -- sh suite.sh
expect_status 0 check --baseline base.json --tolerance 50% --processes each -- sh suite.sh
expect_in err.txt "3 processes that the program started were not judged"
expect_status 2 check --processes each --max-peak 1MiB base.json
expect_in err.txt "--processes is for a command that heapprof check runs itself [HP160]"
