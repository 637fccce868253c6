# Suppressions: report and run show known leaks apart; the numbers agree in every format; mistakes are named with their line.
export LC_ALL=C.UTF-8 COLUMNS=100
"$HEAPPROF_BIN" run -q -o leaky.json "$TARGETS/leaky"
cat >my.supp <<'RULES'
# what we know about leaky
function:leak_*               # five blocks, on purpose
function:nothing_like_this    # not there any more
RULES

# Text: apart, and the same sum.
expect_status 0 "$HEAPPROF_BIN" report leaky.json
expect_in out.txt "leaked 6.03 KiB   9 allocs"
expect_not_in out.txt "suppressed"
cp leaky.json before.json
expect_status 0 "$HEAPPROF_BIN" report --suppressions my.supp leaky.json
expect_in out.txt "leaked 0 B + 6.03 KiB suppressed"
expect_in out.txt "6.03 KiB of known leaks suppressed (--list-suppressions)"
expect_not_in out.txt "LEAKED host"
cmp before.json leaky.json || fail "the report changed the profile"
expect_status 0 "$HEAPPROF_BIN" report --suppressions my.supp --list-suppressions leaky.json
grep -A1 -F '6.03 KiB  5 blocks  function:leak_*' out.txt >lines.txt || fail "the rule is not listed: $(cat out.txt)"
expect_in lines.txt "my.supp:2: five blocks, on purpose"
grep -A1 -E '^ +unused  function:nothing_like_this$' out.txt >lines.txt || fail "the unused rule is not listed: $(cat out.txt)"
expect_in lines.txt "my.supp:3: not there any more"
[ "$(wc -L <out.txt)" -le 100 ] || fail "a line is wider than 100 columns: $(cat out.txt)"

# JSON and CSV have both: leaked is all of it, suppressed a part of that.
"$HEAPPROF_BIN" report --suppressions my.supp --format json leaky.json >report.json
expect_eq "leaked in JSON" "$(jq -c '.devices[0] | [.leaked_bytes, .leaked_blocks_count, .suppressed_leaked_bytes, .suppressed_leaked_blocks_count]' report.json)" "[6175,5,6175,5]"
expect_eq "places in JSON" "$(jq '[.devices[0].places[].suppressed_leaked_bytes] | add' report.json)" 6175
"$HEAPPROF_BIN" report --suppressions my.supp --sort leaked --format csv leaky.json >report.csv
expect_eq "CSV" "$(python3 -c 'import csv; print([(r["leaked_bytes"], r["suppressed_leaked_bytes"], r["suppressed_leaked_blocks_count"]) for r in csv.DictReader(open("report.csv"))])')" \
  "[('6175', '6175', '5')]"
"$HEAPPROF_BIN" report --suppressions my.supp --list-suppressions --format json leaky.json >report.json
expect_eq "rules of the file" "$(jq -c '[.devices[0].suppressions[] | select(.file) | [.line, .suppressed_leaked_bytes]]' report.json)" "[[2,6175],[3,0]]"

# Several files; the first rule that fits counts.
echo 'module:leaky  # all of it' >all.supp
"$HEAPPROF_BIN" report --suppressions all.supp --suppressions my.supp --list-suppressions --format json leaky.json >report.json
expect_eq "which rule" "$(jq -c '[.devices[0].suppressions[] | select(.suppressed_leaked_blocks_count > 0) | .file]' report.json)" '["all.supp"]'

# The summary of a run, and the files of other tools.
expect_status 0 "$HEAPPROF_BIN" run -o leaky.json --suppressions my.supp "$TARGETS/leaky"
expect_in err.txt "leaked + suppressed"
expect_in err.txt "0 B + 6.03 KiB"
expect_eq "the profile knows nothing of rules" "$(grep -c suppress leaky.json || true)" 0
COLUMNS=80 expect_status 0 "$HEAPPROF_BIN" run -o leaky.json --suppressions my.supp "$TARGETS/leaky"
[ "$(wc -L <err.txt)" -le 80 ] || fail "a line is wider than 80 columns: $(cat err.txt)"
expect_status 0 "$HEAPPROF_BIN" report --suppressions all.supp "$SOURCE/tests/golden/foreign/valgrind_heap.json"

# Mistakes: four parts, with the line; before the program starts.
refused() {
  local status=$1
  shift
  cat >want.txt
  expect_status "$status" "$HEAPPROF_BIN" "$@"
  cmp -s want.txt err.txt || { diff want.txt err.txt >&2 || true; fail "other words for: heapprof $*"; }
  [ ! -s out.txt ] || fail "heapprof $* wrote on stdout"
}
printf 'function:a  # fine\n\nfunction:b\n' >broken.supp
refused 2 report --suppressions broken.supp leaky.json <<'WORDS'
heapprof: error: broken.supp, line 3: the reason is missing: a rule ends with # and why the leak is known [HP081]
  fix:     write it like this: function:GLOB module:GLOB <- file:GLOB  # why this leak is known
  instead: leave the line out: what it would suppress is shown as leaked
WORDS
refused 125 run --suppressions none.supp touch started <<'WORDS'
heapprof: error: the suppressions in none.supp cannot be read: no such file or directory [HP080]
  fix:     look for the file: ls -l none.supp
  instead: leave --suppressions out: every leak is shown
WORDS
[ ! -e started ] || fail "the program was started"
refused 2 report --suppressions= leaky.json <<'WORDS'
heapprof: error: --suppressions needs a value [HP059]
  fix:     --suppressions FILE
WORDS
expect_status 2 "$HEAPPROF_BIN" report --suppressions . leaky.json
expect_in err.txt "[HP080]"
expect_status 2 "$HEAPPROF_BIN" report --suppressions "$HEAPPROF_BIN" leaky.json
expect_in err.txt "HP08"
