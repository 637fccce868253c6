# The summary in ASCII, and in colour when that is asked for.
export COLUMNS=80
LC_ALL=C expect_status 0 "$HEAPPROF_BIN" run -o profile.json "$TARGETS/leaky"
expect_eq "lines beyond ASCII" "$(LC_ALL=C grep -cP '[^\x00-\x7f]' err.txt || true)" 0
expect_not_in err.txt $'\033'
expect_status 0 "$HEAPPROF_BIN" run --color=always -o profile.json "$TARGETS/leaky"
expect_in err.txt $'\033[1m'
