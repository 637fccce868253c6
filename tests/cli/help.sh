# Help: examples first, a screen for -h, the same flags in --help, man pages and completions.
expect_status 0 "$HEAPPROF_BIN"
expect_eq "lines of heapprof alone" "$(wc -l <out.txt)" 12
expect_eq "what stderr says" "$(cat err.txt)" ""
expect_eq "first example" "$(sed -n 3p out.txt | cut -c1-33)" "  heapprof run ./render scene.usd"
cp out.txt alone.txt
expect_status 0 "$HEAPPROF_BIN" -h
cmp alone.txt out.txt || fail "-h and no argument differ"

expect_status 0 "$HEAPPROF_BIN" --version
grep -qxE 'heapprof [0-9]+\.[0-9]+\.[0-9]+' out.txt || fail "no version: $(cat out.txt)"
expect_status 0 "$HEAPPROF_BIN" --help
expect_in out.txt "report"

for command in run report diff snapshot merge export history check doctor; do
  expect_status 0 "$HEAPPROF_BIN" $command -h
  [ "$(wc -l <out.txt)" -le 24 ] || fail "$command -h is longer than a screen"
  expect_not_in out.txt "--fence"
  expect_status 0 "$HEAPPROF_BIN" $command --help
  expect_in out.txt "examples"
  expect_in out.txt "exit status"
  # Help asked for beats a mistake elsewhere on the line only if it stands in front of it.
  expect_status 0 "$HEAPPROF_BIN" $command --help --color=always
done

"$SOURCE/scripts/check-help" "$HEAPPROF_BIN" >differences.txt || fail "$(cat differences.txt)"

# The check itself notices what is missing: a page without a flag.
mkdir -p copy/cli/base copy/scripts
cp -r "$SOURCE/man" "$SOURCE/completions" copy/
cp "$SOURCE/cli/base/problems.h" copy/cli/base/
cp "$SOURCE/scripts/check-help" copy/scripts/
sed -i 's/^\*--top\*.*/*--pot* _N_/' copy/man/heapprof-report.1.scd
sed -i 's/ --all-sites / /' copy/completions/heapprof.bash
if copy/scripts/check-help "$HEAPPROF_BIN" >differences.txt; then fail "a page without --top passed the check"; fi
expect_in differences.txt "man/heapprof-report.1.scd: --top is missing"
expect_in differences.txt "man/heapprof-report.1.scd: --pot is not in --help"
expect_in differences.txt "completions/heapprof.bash (run): --all-sites is missing"
