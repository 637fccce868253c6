# heapprof report --findings: forms, widths, what cannot be asked, and what it may not be asked together with.
export LC_ALL=C.UTF-8 COLUMNS=80
small=$SOURCE/tests/golden/profile/small.json
"$HEAPPROF_BIN" run -q -o churn.json "$TARGETS/planted_churn"

expect_status 0 "$HEAPPROF_BIN" report --findings churn.json
expect_in out.txt "1 finding, the costliest first; not asked: growth: the run is shorter than 1 s"
expect_in out.txt "20,000 blocks of 4.00 KiB, one after another"
grep -qE '^ +smooth_row +.*planted_churn.cc:[0-9]+ +← main' out.txt || fail "the place is not named: $(cat out.txt)"
expect_in out.txt "at most 1 alive at once"
expect_in out.txt "often: keep one block as a workspace"
id=$("$HEAPPROF_BIN" report --findings --format json churn.json | jq -r '.findings[0].id')
expect_in out.txt "$id"
"$HEAPPROF_BIN" run -q -o again.json "$TARGETS/planted_churn"
expect_eq "the id of another run" "$("$HEAPPROF_BIN" report --findings --format json again.json | jq -r '.findings[0].id')" "$id"
expect_status 0 "$HEAPPROF_BIN" report --findings --bytes churn.json
expect_in out.txt "4,099 B"

# The plain report says that there are some, and how to see them.
expect_status 0 "$HEAPPROF_BIN" report churn.json
expect_in out.txt "1 finding: heapprof report --findings churn.json"
expect_status 0 "$HEAPPROF_BIN" report "$small"
expect_not_in out.txt "finding"

# None: one line.
expect_status 0 "$HEAPPROF_BIN" report --findings "$small"
expect_eq "nothing found" "$(cat out.txt)" "no findings, not asked: growth: the file does not say what sites held when"
expect_status 0 "$HEAPPROF_BIN" report --findings --format json "$small"
expect_eq "nothing found, in JSON" "$(jq -c '[.findings_count, .findings, .not_asked]' out.txt)" '[0,[],["growth"]]'
expect_status 2 "$HEAPPROF_BIN" report --findings --device cuda:0 churn.json
expect_in err.txt "[HP057]"

# Widths and colours.
for columns in 40 60 80 120; do
  COLUMNS=$columns expect_status 0 "$HEAPPROF_BIN" report --findings churn.json
  [ "$(wc -L <out.txt)" -le $columns ] || fail "a line is wider than $columns columns: $(cat out.txt)"
done
LC_ALL=C expect_status 0 "$HEAPPROF_BIN" report --findings churn.json
expect_eq "lines beyond ASCII" "$(LC_ALL=C grep -cP '[^\x00-\x7f]' out.txt || true)" 0
expect_not_in out.txt $'\033'
expect_status 0 "$HEAPPROF_BIN" report --findings --color=always churn.json
expect_in out.txt $'\033[1m'

# Every number of the JSON has its unit.
"$HEAPPROF_BIN" report --findings --format json churn.json | jq -r '[paths(numbers)[-1] | strings] | unique[]' >fields.txt
expect_eq "fields without a unit" "$(grep -vE '_(bytes|ns|count)$|^(version|pid|line|address)$' fields.txt || true)" ""

# Refused, with the words.
refused() {
  cat >want.txt
  expect_status 2 "$HEAPPROF_BIN" "$@"
  cmp -s want.txt err.txt || { diff want.txt err.txt >&2 || true; fail "other words for: heapprof $*"; }
  [ ! -s out.txt ] || fail "heapprof $* wrote on stdout"
}
refused report --findings --format csv churn.json <<'WORDS'
heapprof: error: there is no csv of findings, which are words [HP171]
  fix:     ask for JSON: heapprof report --findings --format json FILE
  instead: leave --format out, for text
WORDS
refused report --findings --tree churn.json <<'WORDS'
heapprof: error: --findings and --tree ask for different things [HP172]
  fix:     leave --tree out
  instead: leave --findings out
WORDS
cp "$SOURCE/tests/golden/foreign/valgrind_heap.json" foreign.json
refused report --findings foreign.json <<'WORDS'
heapprof: error: foreign.json was not written by heapprof, and lacks what findings go by [HP170]
  fix:     record the program with heapprof: heapprof run -- PROGRAM
  instead: look at it without --findings: heapprof report foreign.json
WORDS
expect_status 2 "$HEAPPROF_BIN" report --findings --sort peak churn.json
expect_status 2 "$HEAPPROF_BIN" report --findings --list-suppressions churn.json
