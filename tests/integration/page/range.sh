# What a range between two marks has is what the program's own books say, to the byte: with one thread and with several,
# killed as well, in the profile and on the page.
for plan in "1 1 6 exit" "2 4 8 exit" "3 8 12 exit" "4 1 6 KILL" "5 4 8 KILL"; do
  read -r seed threads marks how <<<"$plan"
  "$HEAPPROF_BIN" run -q -o "ranges_$seed.json" -- "$TARGETS/ranges" "$seed" "$threads" "$marks" "$how" "books_$seed.json" || [ "$how" = KILL ] || fail "ranges $plan"
  "$PYTHON" "$SOURCE/tests/support/stays.py" "ranges_$seed.json" "books_$seed.json" >said.txt || { cat said.txt >&2; fail "ranges $plan"; }
  cat said.txt
done
# The check itself: a byte that is missing must be noticed.
jq -c '.heapprof.devices[0].sites.stays |= map(.[-2] += 1)' ranges_1.json >wrong.json
if "$PYTHON" "$SOURCE/tests/support/stays.py" wrong.json books_1.json >wrong.txt; then fail "a wrong stay was not noticed"; fi
# So must it be by heapprof itself, where the stays do not sum to what leaked.
expect_status 3 "$HEAPPROF_BIN" report wrong.json

source "$SOURCE/tests/support/page/page_checks.sh"
for seed in 1 2 5; do
  "$HEAPPROF_BIN" report --html "ranges_$seed.html" "ranges_$seed.json" 2>/dev/null
  browse range.mjs "ranges_$seed.html" "books_$seed.json"
done
