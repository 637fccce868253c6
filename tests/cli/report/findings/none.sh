# No findings: what could not be judged, and why, in words that need no manual.
export COLUMNS=80
expect_status 0 "$HEAPPROF_BIN" report --findings "$small"
says out.txt <<'WORDS'
no findings
not judged:
  places that hold more and more, memory that only the start needs, memory that
  is needed for a short time, queues that fill up: the file does not say what
  places held when
  whether live blocks can still be reached: heapprof run --leak-check asks that
  small blocks that are never used: only the pages of blocks of 64 KiB and more
  are looked at
WORDS
expect_status 0 "$HEAPPROF_BIN" report --findings --format json "$small"
expect_eq "nothing found, in JSON" "$(jq -c '[.findings_count, .findings, .not_asked]' out.txt)" '[0,[],["growth","start-peak","spike","backlog"]]'
expect_eq "why" "$(jq -r '.not_judged[0].why' out.txt)" "the file does not say what places held when"

# A program that was killed had no time to free anything.
jq -c '.heapprof.run.end = "signaled" | .heapprof.run.status = 9' "$small" >killed.json
expect_status 0 "$HEAPPROF_BIN" report --findings killed.json
expect_in_order() { tr '\n' ' ' <"$1" | tr -s ' ' | grep -qF "$2" || fail "$1 does not say: $2"; }
expect_in_order out.txt "large blocks that are never freed, small blocks that are never freed: the program did not come to its own end"

# Events were lost: all the rest was judged by what was seen.
jq -c '.heapprof.run.complete = false | .heapprof.run.incomplete_reason = "3 events were lost"' "$small" >lost.json
expect_status 0 "$HEAPPROF_BIN" report --findings lost.json
expect_in_order out.txt "memory that stays resident when it is freed, large blocks that are not used: pages are judged only if every block is known, and the profile is incomplete"
expect_in_order out.txt "what is not in this profile, which is incomplete: 3 events were lost"
