# What --findings may not be asked together with: the exact words.
made churn record_churn
refused 2 report --findings --format csv churn.json <<'WORDS'
heapprof: error: there is no csv of findings, which are words [HP171]
  fix:     ask for JSON: heapprof report --findings --format json FILE
  instead: leave --format out, for text
WORDS
refused 2 report --findings --tree churn.json <<'WORDS'
heapprof: error: --findings and --tree ask for different things [HP172]
  fix:     leave --tree out
  instead: leave --findings out
WORDS
cp "$foreign/valgrind_heap.json" foreign.json
refused 2 report --findings foreign.json <<'WORDS'
heapprof: error: foreign.json was not written by heapprof, and lacks what findings go by [HP170]
  fix:     record the program with heapprof: heapprof run -- PROGRAM
  instead: look at it without --findings: heapprof report foreign.json
WORDS
expect_status 2 "$HEAPPROF_BIN" report --findings --sort peak churn.json
expect_status 2 "$HEAPPROF_BIN" report --findings --list-suppressions churn.json
expect_status 2 "$HEAPPROF_BIN" report --findings --device cuda:0 churn.json
expect_in err.txt "[HP057]"
