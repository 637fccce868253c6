# The check of help, pages and completions notices what is missing: a page without a flag.
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
