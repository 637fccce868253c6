# Findings keep to the width, to ASCII and to no colour where these are all there is.
made churn record_churn
for columns in 40 60 80 120; do
  COLUMNS=$columns expect_status 0 "$HEAPPROF_BIN" report --findings churn.json
  [ "$(wc -L <out.txt)" -le $columns ] || fail "a line is wider than $columns columns: $(cat out.txt)"
done
LC_ALL=C expect_status 0 "$HEAPPROF_BIN" report --findings churn.json
expect_eq "lines beyond ASCII" "$(LC_ALL=C grep -cP '[^\x00-\x7f]' out.txt || true)" 0
expect_not_in out.txt $'\033'
expect_status 0 "$HEAPPROF_BIN" report --findings --color=always churn.json
expect_in out.txt $'\033[1m'
