# Of many small processes no files stay, unless that is asked for; their numbers do.
program() { # COUNT: runs so many small programs, and becomes a large one
  echo "for _ in \$(seq $1); do ls / >/dev/null; done; exec '$TARGETS/hungry' heap:60000000"
}
files() { find . -name '*.json' | wc -l; }
expect_status 0 "$HEAPPROF_BIN" run -o profile.json -- bash -c "$(program 36)"
expect_eq "files" "$(files)" 1
grep -qE '\+ [34][0-9] small ones without files \(--all-processes\)' err.txt || fail "no line for the small ones"
expect_not_in err.txt "(not saved)"
expect_eq "small ones in the profile" \
  "$(json profile.json '[.heapprof.processes[] | select(.file == "" and .memory_peak_bytes > 0)] | length >= 36')" true
rm profile*
expect_status 0 "$HEAPPROF_BIN" run --all-processes -o profile.json -- bash -c "$(program 36)"
[ "$(files)" -ge 37 ] || fail "files with --all-processes: $(files)"
rm profile*
expect_status 0 "$HEAPPROF_BIN" run -o profile.%p.json -- bash -c "$(program 36)"
[ "$(files)" -ge 37 ] || fail "files, each named by a directive: $(files)"
rm profile*
expect_status 0 "$HEAPPROF_BIN" run -o p%%.json -- bash -c "$(program 36)"  # no directive
expect_eq "files, a percent sign in the name" "$(files)" 1
rm p%*
# One that failed keeps its own, and so do all if the program's cannot be written.
expect_status 0 "$HEAPPROF_BIN" run -o profile.json -- bash -c "ls /absent 2>/dev/null; $(program 36)"
expect_eq "files, one failed" "$(files)" 2
rm profile*
status=0
"$HEAPPROF_BIN" run -o profile.json -- bash -c "$(program 36 | sed 's/exec/rm -f profile.json; mkdir -p profile.json; exec/')" 2>err.txt || status=$?
expect_eq "exit status without the program's profile" "$status" 125
[ "$(files)" -ge 36 ] || fail "files beside one that could not be written: $(files)"
rm -r profile*
# A few stay; and all where none is much larger.
expect_status 0 "$HEAPPROF_BIN" run -o profile.json -- bash -c "$(program 5)"
[ "$(files)" -ge 6 ] || fail "files of a few: $(files)"
rm profile*
expect_status 0 "$HEAPPROF_BIN" run -o profile.json -- bash -c 'for _ in $(seq 36); do ls / >/dev/null; done'
[ "$(files)" -ge 36 ] || fail "files of many that are alike: $(files)"
