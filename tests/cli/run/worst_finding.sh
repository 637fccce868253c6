# The summary ends with the first finding about memory and the first about time, in a sentence each, and says how to see
# the others; where there is none, with nothing.
export COLUMNS=80
expect_status 0 "$HEAPPROF_BIN" run -o churn.json "$TARGETS/planted_churn"
sed -n '/^time /,$p' err.txt | sed 's/\(churn.json\)  .*  0 events/\1  SIZE  0 events/' >end.txt
says end.txt <<'WORDS'
time   smooth_row (planted_churn.cc:7) allocates 20,000 blocks of one size, one
       after another (78.2 MiB): reuse one
saved  churn.json  SIZE  0 events lost
next   heapprof report churn.json
WORDS

expect_status 0 "$HEAPPROF_BIN" run -o copies.json "$TARGETS/planted_copies"
tr -s '\n ' ' ' <err.txt >flat.txt
expect_in flat.txt "worst the peak holds the old and the new buffer of a growing container: 4.00 MiB of it from fill_vector"
expect_in flat.txt "(planted_copies.cc:11); call reserve() with the final size"
expect_eq "memory first" "$("$HEAPPROF_BIN" report --findings --format json copies.json | jq -r '[.findings[].kind] | join(" ")')" "old-and-new copies"

expect_status 0 "$HEAPPROF_BIN" run -o leaky.json "$TARGETS/leaky"
expect_not_in err.txt worst
expect_not_in err.txt 'time  '
expect_not_in err.txt --findings
expect_status 0 "$HEAPPROF_BIN" run -q -o quiet.json "$TARGETS/planted_churn"
expect_not_in err.txt worst

for columns in 40 60 120; do
  COLUMNS=$columns expect_status 0 "$HEAPPROF_BIN" run -o narrow.json "$TARGETS/planted_copies"
  [ "$(sed -n '/^worst \|^time /,/^saved/p' err.txt | grep -v ^saved | wc -L)" -le $columns ] || fail "wider than $columns columns: $(cat err.txt)"
done
