# The summary ends with the worst finding in one sentence, and says how to see the others; where there is none, with
# nothing. It is the first one of report --findings that was held, and a tenth of the peak; else the first.
export COLUMNS=80
expect_status 0 "$HEAPPROF_BIN" run -o churn.json "$TARGETS/planted_churn"
sed -n '/^worst /,$p' err.txt | sed 's/\(churn.json\)  .*  0 events/\1  SIZE  0 events/' >end.txt
says end.txt <<'WORDS'
worst  78.2 MiB from smooth_row (planted_churn.cc:7) came and went in 20,000
       blocks of one size: keep one and use it again
saved  churn.json  SIZE  0 events lost
next   heapprof report churn.json
WORDS

expect_status 0 "$HEAPPROF_BIN" run -o copies.json "$TARGETS/planted_copies"
expect_in err.txt "worst  4.00 MiB of the peak, from fill_vector"
expect_in err.txt "       1 more: heapprof report --findings copies.json"
read -r -a more <<<"$(sed -n 's/^ *1 more: heapprof //p' err.txt)"
expect_status 0 "$HEAPPROF_BIN" "${more[@]}"
expect_eq "the first has passed through" "$(sed -n 3p out.txt | grep -o '8.00 MiB copied while growing')" "8.00 MiB copied while growing"
expect_eq "by cost" "$("$HEAPPROF_BIN" report --findings --format json copies.json | jq -c '[.findings[].cost_bytes] | . == (sort | reverse)')" true

expect_status 0 "$HEAPPROF_BIN" run -o leaky.json "$TARGETS/leaky"
expect_not_in err.txt worst
expect_not_in err.txt --findings
expect_status 0 "$HEAPPROF_BIN" run -q -o quiet.json "$TARGETS/planted_churn"
expect_not_in err.txt worst

for columns in 40 60 120; do
  COLUMNS=$columns expect_status 0 "$HEAPPROF_BIN" run -o narrow.json "$TARGETS/planted_copies"
  [ "$(sed -n '/^worst /,/^saved/p' err.txt | grep -v ^saved | wc -L)" -le $columns ] || fail "wider than $columns columns: $(cat err.txt)"
done
