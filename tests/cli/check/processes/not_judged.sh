# The program alone is judged: the rest is named, in every format.
with_suite
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
