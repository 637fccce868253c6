# The summary at exit of heapprof run: on stderr, complete, and silent when asked to be.
export LC_ALL=C.UTF-8 COLUMNS=80
expect_status 0 "$HEAPPROF_BIN" run -o profile.json "$TARGETS/leaky"
cp out.txt plain.txt
for words in "exit 0" "device          peak          at      leaked    allocations    temporary" "at the host peak" "leaked" \
  "saved  profile.json  " "0 events lost" "next   heapprof report profile.json"; do
  expect_in err.txt "$words"
done
expect_eq "last line" "$(tail -n 1 err.txt)" "next   heapprof report profile.json"
[ "$(wc -L <err.txt)" -le 80 ] || fail "a line is wider than 80 columns: $(cat err.txt)"

# The numbers are the profile's, and the report's.
peak=$("$HEAPPROF_BIN" report --format json profile.json 2>/dev/null | jq '.devices[0].peak_bytes')
expect_eq "peak of report and profile" "$peak" "$(jq '[.pps[].gb] | add' profile.json)"

# The command that it advertises works.
read -r -a next <<<"$(sed -n 's/^next   heapprof //p' err.txt)"
expect_status 0 "$HEAPPROF_BIN" "${next[@]}"
expect_in out.txt "PEAK host"

# Quiet, and only without the summary.
expect_status 0 "$HEAPPROF_BIN" run -q -o profile.json "$TARGETS/leaky"
expect_eq "words of -q" "$(cat err.txt)" ""
expect_status 0 "$HEAPPROF_BIN" run --no-summary -o profile.json "$TARGETS/leaky"
expect_eq "words of --no-summary" "$(cat err.txt)" ""
cmp plain.txt out.txt || fail "the program's stdout differs"

# A name chosen by us, never one that exists.
expect_status 0 "$HEAPPROF_BIN" run "$TARGETS/leaky"
file=$(sed -n 's/^saved  \(heapprof\.leaky\.[0-9]*\.json\)  .*/\1/p' err.txt)
[ -s "$file" ] || fail "no file of that name: '$file'"

# How it ended.
expect_status 137 "$HEAPPROF_BIN" run -o killed.json sh -c 'kill -9 $$'
expect_in err.txt "killed by SIGKILL"
expect_in err.txt "the profile is complete up to there"

# ASCII and colour.
LC_ALL=C expect_status 0 "$HEAPPROF_BIN" run -o profile.json "$TARGETS/leaky"
expect_eq "lines beyond ASCII" "$(LC_ALL=C grep -cP '[^\x00-\x7f]' err.txt || true)" 0
expect_not_in err.txt $'\033'
expect_status 0 "$HEAPPROF_BIN" run --color=always -o profile.json "$TARGETS/leaky"
expect_in err.txt $'\033[1m'
