# The summary ends with the first finding about memory and the first about time, in a sentence each, and says how to see
# the others; where there is none, with nothing.
# The blocks are large, and hardly written to: however slow the machine, what clearing their pages is taken to cost is
# far more than the part of the run that makes a finding worth a line.
export COLUMNS=80
expect_status 0 "$HEAPPROF_BIN" run -o churn.json "$TARGETS/planted_churn" 2000 1048576
sed -n '/^time /,$p' err.txt | sed 's/\(churn.json\)  .*  0 events/\1  SIZE  0 events/' >end.txt
says end.txt <<'WORDS'
time   smooth_row (planted_churn.cc:8) allocates 2,000 blocks of one size, one
       after another (1.95 GiB): reuse one
saved  churn.json  SIZE  0 events lost
next   heapprof report churn.json
WORDS

expect_status 0 "$HEAPPROF_BIN" run -o left.json "$TARGETS/planted_small_never_freed"
tr -s '\n ' ' ' <err.txt >flat.txt
expect_in flat.txt "worst read_message (planted_small_never_freed.cc:9) left 19.6 MiB in 10,000 small blocks, live at exit: free them"

expect_status 0 "$HEAPPROF_BIN" run -o leaky.json "$TARGETS/leaky"
expect_not_in err.txt worst
expect_not_in err.txt 'time  '
expect_not_in err.txt --findings
expect_status 0 "$HEAPPROF_BIN" run -q -o quiet.json "$TARGETS/planted_churn"
expect_not_in err.txt worst

for columns in 40 60 120; do
  COLUMNS=$columns expect_status 0 "$HEAPPROF_BIN" run -o narrow.json "$TARGETS/planted_small_never_freed"
  [ "$(sed -n '/^worst \|^time /,/^saved/p' err.txt | grep -v ^saved | wc -L)" -le $columns ] || fail "wider than $columns columns: $(cat err.txt)"
done
