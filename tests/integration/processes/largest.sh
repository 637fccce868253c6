# The screen is about the process, or program image, with the largest peak of heap and mapped memory: its headline says
# so, its tables and `next` are that one's; how the run ended stays that of the program that was started.
export COLUMNS=100
hungry=$TARGETS/hungry

# headline ABOUT: what the screen says of which process it shows; empty: it shows the program that was started
headline() { sed -n '2p' err.txt; }
next_of() { sed -n 's/^next   heapprof report //p' err.txt; }
child_of() { find . -name 'profile.[0-9]*.json' ! -name '*.exec*' -printf '%f\n'; }
# peak_shown: of the screen's table
peak_shown() { awk '$1 == "host" && !seen { print $2, $3; seen = 1 }' err.txt; }

# A shell that starts it.
profile sh -c "'$hungry' heap:60000000; exit 4"
expect_eq "exit status" "$status" 4
expect_in err.txt "    exit 4    "
expect_eq "next" "$(next_of)" "$(child_of)"
expect_eq "peak shown" "$(peak_shown)" "57.2 MiB"
expect_in err.txt "the largest of 2 processes: "
expect_said err.txt "sh, which was started, peaked at "
expect_in err.txt "take_heap"
expect_eq "order of the list" "$(sed -n '/^processes, by peak/,/^$/p' err.txt | awk 'NR > 1 && NF { print $1, $2 }' | head -1)" "57.2 MiB"
expect_in err.txt "saved  profile.json  "

# A child that holds most of it, a daemon that outlives its starter, one that was killed, and one whose starter was.
rm profile*
profile "$hungry" heap:3000000 child heap:57000000
expect_eq "next" "$(next_of)" "$(child_of)"
expect_eq "peak shown" "$(peak_shown)" "54.4 MiB"
rm profile*
profile sh -c "'$hungry' heap:60000000 die; kill -9 \$\$"
expect_eq "exit status" "$status" 137
expect_in err.txt "killed by SIGKILL"
expect_eq "next" "$(next_of)" "$(child_of)"

rm profile*
status=0
"$HEAPPROF_BIN" run --wait -o profile.json -- sh -c "'$hungry' heap:60000000 & exit 3" 2>err.txt || status=$?
expect_eq "exit status with --wait" "$status" 3
expect_eq "next" "$(next_of)" "$(child_of)"
expect_eq "peak shown" "$(peak_shown)" "57.2 MiB"

# Its profile cannot be written: it is in the list all the same, and the screen is that of what could be.
mkdir hungry.json
status=0
"$HEAPPROF_BIN" run -o %n.json -- sh -c "'$hungry' heap:60000000; exit 3" 2>err.txt || status=$?
expect_eq "exit status without the child's profile" "$status" 125
expect_in err.txt "57.2 MiB"
expect_in err.txt "(not saved)"
expect_eq "next" "$(next_of)" sh.json
expect_eq "its file" "$(json "$(next_of)" '.heapprof.processes[0].file')" ""
rmdir hungry.json

# Mapped memory counts as heap does: the child has the smaller heap.
rm profile*
profile "$hungry" heap:3000000 child heap:1000000 map:8000000
expect_eq "next" "$(next_of)" "$(child_of)"
expect_in err.txt "  8.59 MiB  "  # whole pages

# The program that was started is the largest, or as large: the screen is its own.
rm profile*
profile "$hungry" heap:9000000 child heap:1235
expect_eq "next" "$(next_of)" profile.json
expect_eq "second line" "$(headline)" ""
expect_not_in err.txt "was started, peaked"

# Images of one process: the largest is one that it left.
rm profile*
profile "$hungry" heap:9000000 exec heap:1235 exec heap:1236
expect_eq "next" "$(next_of)" profile.exec1.json
expect_eq "peak shown" "$(peak_shown)" "8.58 MiB"
expect_in err.txt "the largest of 3 programs that process "

# One of 300 at once; the list is short, and the parent's profile names them.
rm profile*
profile "$hungry" heap:5000 many:300
expect_in err.txt "the largest of 301 processes: "
expect_eq "peak shown" "$(peak_shown)" "97.7 KiB"
expect_eq "rows" "$(sed -n '/^processes, by peak/,/^$/p' err.txt | awk 'NF' | wc -l)" 6
[ "$(wc -l <err.txt)" -le 24 ] || fail "the summary has $(wc -l <err.txt) lines"
expect_eq "processes that the profile names" "$(json profile.json '.heapprof.processes | length')" 100
expect_eq "and others" "$(json profile.json .heapprof.other_processes_count)" 200
expect_eq "the largest is first" "$(json profile.json '.heapprof.processes[0].file')" "$(next_of)"
"$HEAPPROF_BIN" report profile.json >out.txt 2>report_err.txt
expect_in out.txt "heapprof report $(next_of)"

rm "$(next_of)"
"$HEAPPROF_BIN" report profile.json >out.txt 2>report_err.txt
expect_in out.txt "its profile is not here: "

# Nobody else was profiled.
rm profile*
status=0
"$HEAPPROF_BIN" run --no-follow -o profile.json -- "$hungry" heap:3000000 child heap:57000000 2>err.txt || status=$?
expect_eq "next" "$(next_of)" profile.json
expect_eq "what the profile knows of others" "$(json profile.json .heapprof.processes)" null

# Quiet is quiet, and --no-summary has no headline.
for flag in -q --no-summary; do
  "$HEAPPROF_BIN" run $flag -o profile.json -- "$hungry" heap:3000 child heap:57000000 2>err.txt
  expect_eq "words with $flag" "$(cat err.txt)" ""
done

# At every width.
for columns in 40 60 80 200; do
  rm profile*
  COLUMNS=$columns "$HEAPPROF_BIN" run -o profile.json -- sh -c "'$hungry' heap:60000000 child map:1000000; exit 4" 2>err.txt || true
  expect_in err.txt "the largest of"
done
