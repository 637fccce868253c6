# heapprof report: forms, widths, streams and exit status, on files of three tools.
export LC_ALL=C.UTF-8 TZ=UTC
golden=$SOURCE/tests/golden
small=$golden/profile/small.json

# Every form of every file; nothing but warnings on stderr; no line wider than the terminal.
for file in profile/small profile/hostile profile/empty profile/no-stack foreign/valgrind_heap foreign/dhat_rs; do
  for columns in 80 120; do
    COLUMNS=$columns expect_status 0 "$HEAPPROF_BIN" report "$golden/$file.json"
    [ "$(wc -L <out.txt)" -le $columns ] || fail "$file: a line is wider than $columns columns: $(cat out.txt)"
    COLUMNS=$columns expect_status 0 "$HEAPPROF_BIN" report --tree --all-frames "$golden/$file.json"
    [ "$(wc -L <out.txt)" -le $columns ] || fail "$file: a line is wider than $columns columns: $(cat out.txt)"
  done
  expect_status 0 "$HEAPPROF_BIN" report --format json "$golden/$file.json"
  jq -e '.devices | length >= 1' out.txt >/dev/null || fail "$file: no devices in JSON"
  expect_status 0 "$HEAPPROF_BIN" report --format csv "$golden/$file.json"
  expect_eq "$file: kinds of rows in CSV" "$(python3 -c 'import csv,sys; print(len({len(r) for r in csv.reader(open("out.txt"))}))')" 1
done

# What JSON and CSV say is what the profile says.
json_total() { jq "[.devices[] | select(.name == \"host\") | .places[].$1] | add" report.json; }
"$HEAPPROF_BIN" report --format json "$small" >report.json 2>/dev/null
for field in total_bytes peak_bytes leaked_bytes; do
  expect_eq "sum of $field over places" "$(json_total $field)" "$(jq '.devices[0].'$field report.json)"
done
expect_eq "peak in the file" "$(jq '[.pps[].gb] | add' "$small")" "$(jq '.devices[0].peak_bytes' report.json)"
expect_eq "leaks in the file" "$(jq '[.pps[].eb] | add' "$small")" "$(jq '.devices[0].leaked_bytes' report.json)"
jq -r '[paths(numbers)[-1] | strings] | unique[]' report.json >fields.txt
odd=$(grep -vE '_(bytes|ns|count)$|^(version|pid|line|address)$' fields.txt || true)
expect_eq "fields without a unit" "$odd" ""

# Warnings are conversation: stdout stays the product.
expect_status 0 "$HEAPPROF_BIN" report "$small"
expect_in err.txt "heapprof: warning: allocations in libodd.so.1 bypass the hooks"
expect_not_in out.txt "warning"
expect_in out.txt "0 events lost"

# Views.
expect_status 0 "$HEAPPROF_BIN" report --device host --sort total --top 1 --bytes "$small"
expect_in out.txt "TOTAL host"
expect_in out.txt "top 1 of"
expect_not_in out.txt "cuda:0"
expect_not_in out.txt "KiB"
expect_status 0 "$HEAPPROF_BIN" report --tree "$small"
expect_in out.txt "TREE PEAK host"

# A reader that goes away ends it quietly; a full disk does not pass for success.
{ "$HEAPPROF_BIN" report "$golden/foreign/valgrind_heap.json"; echo $? >status.txt; } 2>pipe.txt | true
expect_eq "words to a closed pipe" "$(cat pipe.txt)" ""
status=0
"$HEAPPROF_BIN" report "$golden/foreign/valgrind_heap.json" >/dev/full 2>err.txt || status=$?
expect_eq "exit status on a full disk" $status 1
expect_in err.txt "[HP066]"

# Colour, ASCII.
expect_not_in out.txt $'\033'
"$HEAPPROF_BIN" report --color=always "$small" >out.txt 2>/dev/null
expect_in out.txt $'\033[1m'
LC_ALL=C "$HEAPPROF_BIN" report --tree "$small" >out.txt 2>/dev/null
expect_eq "lines beyond ASCII" "$(LC_ALL=C grep -cP '[^\x00-\x7f]' out.txt || true)" 0
if have script; then
  script -qec "env TERM=xterm stty cols 93; env TERM=xterm COLUMNS=50 '$HEAPPROF_BIN' report '$small'" typed.txt >/dev/null </dev/null
  expect_in typed.txt $'\033[1m'
  script -qec "env TERM=xterm NO_COLOR=1 '$HEAPPROF_BIN' report '$small'" typed.txt >/dev/null </dev/null
  expect_not_in typed.txt $'\033[1m'
fi

# Damaged files: 3, whatever is wrong.
head -c 500 "$small" >cut.json
expect_status 3 "$HEAPPROF_BIN" report cut.json
expect_in err.txt "heapprof: error: cut.json"
head -c 5000 /dev/urandom >noise.json
expect_status 3 "$HEAPPROF_BIN" report noise.json
expect_status 3 "$HEAPPROF_BIN" report /
jq '.pps[0].gb += 1' "$small" >wrong.json
expect_status 3 "$HEAPPROF_BIN" report wrong.json
