# Every format of every file; no line wider than the terminal.
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
  expect_eq "$file: kinds of rows in CSV" "$("$PYTHON" -c 'import csv,sys; print(len({len(r) for r in csv.reader(open("out.txt"))}))')" 1
done
