# The summary at exit of heapprof run: on stderr, complete, and its numbers are the profile's; the command that it
# advertises works.
export COLUMNS=80
expect_status 0 "$HEAPPROF_BIN" run -o profile.json "$TARGETS/leaky"
for words in "exit 0" "device       peak" "at the host peak" "   live at exit   allocations      total   temporary" "live at exit" \
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
