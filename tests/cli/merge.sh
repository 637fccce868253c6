# heapprof merge: sums are exact, peaks stay visible, DHAT's viewer's fields hold, and what does not add is named.
export LC_ALL=C.UTF-8 COLUMNS=100
"$HEAPPROF_BIN" run -q -o a.json "$TARGETS/leaky"
cp a.json b.json
cp a.json c.json
golden=$SOURCE/tests/golden
sum() { jq "[.pps[].$1] | add" "$2"; }

expect_status 0 "$HEAPPROF_BIN" merge -o abc.json a.json b.json c.json
expect_in err.txt "peaks of 3 profiles"
expect_in err.txt "next   heapprof report abc.json"
for field in tb tbk eb ebk gb gbk; do
  expect_eq "sum of $field" "$(sum $field abc.json)" "$(($(sum $field a.json) * 3))"
done
expect_eq "sites" "$(jq '.pps | length' abc.json)" "$(jq '.pps | length' a.json)"
expect_eq "what the device says" "$(jq -c '.heapprof.devices[0] | [.peak_is_sum, .largest_peak_bytes, .totals.leaked_bytes]' abc.json)" \
  "[true,$(sum gb a.json),$((6175 * 3))]"
expect_eq "inputs" "$(jq -c '[.heapprof.merged[] | [.file, .device, .peak_bytes]]' abc.json | tr -d ' ')" \
  "[[\"a.json\",\"host\",$(sum gb a.json)],[\"b.json\",\"host\",$(sum gb a.json)],[\"c.json\",\"host\",$(sum gb a.json)]]"

# The report knows it for a sum, and the whole is read back as it was written.
expect_status 0 "$HEAPPROF_BIN" report abc.json
expect_in out.txt "3 profiles merged  "  # the gap narrows where the program's path is long
expect_in out.txt "  all exit 0"
expect_in out.txt "peaks add to"
expect_in out.txt "(median "
"$HEAPPROF_BIN" report --format json abc.json >report.json
expect_eq "inputs in the report" "$(jq '[.inputs[].peak_bytes] | add' report.json)" "$(jq '.devices[0].peak_bytes' report.json)"
"$HEAPPROF_BIN" merge -q -o again.json abc.json a.json
expect_eq "a sum with one more" "$(jq '.heapprof.merged | length' again.json)" 4
expect_eq "its leaks" "$(sum eb again.json)" $((6175 * 4))

# One that stands out is named.
"$HEAPPROF_BIN" run -q -o big.json sort /etc/passwd >sorted.txt
"$HEAPPROF_BIN" merge -q -o odd.json a.json b.json c.json big.json
expect_status 0 "$HEAPPROF_BIN" report odd.json
expect_in out.txt "big.json peaked at"
expect_in out.txt "the others at"

# A folder stands for its profiles; the sum in it is not counted again; gzip'd ones are.
mkdir folder
cp a.json folder/1.json
gzip -c b.json >folder/2.json.gz
touch folder/notes.txt
for round in first second; do
  expect_status 0 "$HEAPPROF_BIN" merge -q -o folder/sum.json folder
  expect_eq "leaks, $round round" "$(sum eb folder/sum.json)" $((6175 * 2))
done
expect_eq "words of -q" "$(cat err.txt)" ""

# Two devices, and profiles of other tools among themselves.
expect_status 0 "$HEAPPROF_BIN" merge -q -o devices.json a.json "$golden/profile/small.json"
expect_eq "devices" "$(jq -c '[.heapprof.devices[].name]' devices.json)" '["host","cuda:0"]'
cp "$golden/foreign/valgrind_heap.json" v1.json
cp v1.json v2.json
expect_status 0 "$HEAPPROF_BIN" merge -q -o valgrind.json v1.json v2.json
expect_status 0 "$HEAPPROF_BIN" report valgrind.json
expect_eq "valgrind's bytes" "$(sum tb valgrind.json)" "$(($(sum tb v1.json) * 2))"

refused() {
  local status=$1
  shift
  cat >want.txt
  expect_status "$status" "$HEAPPROF_BIN" "$@"
  cmp -s want.txt err.txt || { diff want.txt err.txt >&2 || true; fail "other words for: heapprof $*"; }
}
rm -f no.json
refused 2 merge -o no.json a.json v1.json <<'WORDS'
heapprof: error: a.json and v1.json do not add up: the first is of heapprof, the other of valgrind, and they do not count the same [HP084]
  fix:     merge those of one kind, each kind into a file of its own
  instead: look at each: heapprof report FILE
WORDS
refused 2 merge -o no.json <<'WORDS'
heapprof: error: no profiles were named [HP082]
  fix:     heapprof merge -o OUT FILE FILE
  instead: name the folder that they lie in
WORDS
refused 2 merge a.json <<'WORDS'
heapprof: error: heapprof merge was not told where to write [HP086]
  fix:     heapprof merge -o OUT FILE FILE
WORDS
ln -s a.json link.json
refused 2 merge -o no.json a.json b.json link.json <<'WORDS'
heapprof: error: link.json is named twice: it would be counted twice [HP085]
  fix:     name it once
  instead: if you mean it: cp link.json copy.json, and name the copy
WORDS
mkdir nothing
refused 2 merge -o no.json nothing <<'WORDS'
heapprof: error: there is no *.json or *.json.gz in nothing [HP083]
  fix:     look what is in it: ls -l nothing
  instead: name the profiles one by one
WORDS
refused 2 merge -o a.json a.json b.json <<'WORDS'
heapprof: error: -o takes a file that is not merged into itself, not 'a.json' [HP052]
  fix:     give -o another value, or leave it out
WORDS
jq '.heapprof.version = 2' a.json >newer.json
expect_status 3 "$HEAPPROF_BIN" merge -o no.json a.json newer.json
expect_in err.txt "[HP063]"
expect_status 3 "$HEAPPROF_BIN" merge -o no.json a.json missing.json
expect_status 1 "$HEAPPROF_BIN" merge -o /nonexistent/no.json a.json b.json
[ ! -e no.json ] || fail "something was written in spite of an error"
