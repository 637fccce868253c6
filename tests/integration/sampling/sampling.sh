# Blocks are chosen at random: estimates are as far from the program's own books as their stated error says, in each
# class of sizes, with no bias; what is counted is exact; what was freed is gone, whoever freed it.
interval=262144
runs=24
profile_sampled() { # N ARGUMENTS…
  "$HEAPPROF_BIN" run -q --sample $interval -o "sampled$1.json" -- "$TARGETS/sampled_sizes" "${@:2}" >"books$1.txt" || fail "run $1 ended with $?"
}
for run in $(seq $runs); do profile_sampled "$run" sizes $((run % 2 == 0 ? 1 : 4)); done
check_profile sampled1.json sampled2.json
"$PYTHON" "$SOURCE/tests/support/sampled_sizes.py" $interval $(seq $runs) || fail "estimates are not what they say"

# All that began is counted, as if every block had been recorded.
"$HEAPPROF_BIN" run -q -o exact.json -- "$TARGETS/sampled_sizes" sizes 1 >/dev/null
total() { json "$1" '[.heapprof.devices[] | select(.name == "host") | .total_bytes, .total_blocks_count] | map(tostring) | join(" ")'; }
expect_eq "bytes and blocks that began" \
  "$(json sampled2.json '[.heapprof.sampling.counted_bytes, .heapprof.sampling.counted_count] | map(tostring) | join(" ")')" \
  "$(json exact.json '[([.pps[].tb] | add), ([.pps[].tbk] | add)] | map(tostring) | join(" ")')"

# Of a program that frees all, nothing is live at its end, however seldom blocks are chosen.
for interval in 1048576 4096 256; do
  printf 'A\nB\nfree\n' | "$HEAPPROF_BIN" run -q --sample $interval -o freed.json -- "$TARGETS/sampled_sizes" phases >/dev/null
  expect_eq "live at exit of take, one for $interval bytes" "$(sum '::take<' freed.json | cut -d' ' -f3-)" "0 0"
done
[ "$(sum '::take<' freed.json | cut -d' ' -f1)" -gt 0 ] || fail "nothing of 2 MB was chosen, one for 256 bytes"

# Every screen and file says it.
"$HEAPPROF_BIN" run --sample 256KiB -o said.json -- "$TARGETS/sampled_sizes" sizes 1 >/dev/null 2>summary.txt
expect_said summary.txt "sampled, one block for each 256 KiB"
expect_in summary.txt "±"
"$HEAPPROF_BIN" report said.json >report.txt
expect_said report.txt "sampled, one block for each 256 KiB"
grep "take_size" report.txt | grep -q "±" || { cat report.txt >&2; fail "a place without its error"; }
expect_eq "the report as JSON" "$("$HEAPPROF_BIN" report --format json said.json | jq .sampling.interval_bytes)" 262144
expect_status 2 "$HEAPPROF_BIN" check --max-peak host=1GiB said.json
expect_in err.txt HP290
expect_status 0 "$HEAPPROF_BIN" check --allow-sampled --max-peak host=10GiB said.json
expect_status 125 "$HEAPPROF_BIN" run --sample 4KiB --leak-check -- true
expect_in err.txt HP291
expect_status 125 "$HEAPPROF_BIN" run --sample 10 -- true

# A process that is killed keeps what it had, and a forked one has its own.
mkfifo words
"$HEAPPROF_BIN" run -q --sample 4KiB -o killed.json -- sh -c 'exec "$0" phases' "$TARGETS/sampled_sizes" <words >said.txt &
runner=$!
exec 7>words  # held open: the program does not end by itself
printf 'A\nB\n' >&7
wait_for 60 "the program's two answers" has_lines said.txt 2
pkill -KILL -P $runner
exec 7>&-
wait $runner && fail "a killed program ended well"
check_profile killed.json
[ "$(json killed.json .heapprof.sampling.counted_bytes)" -ge 2000000 ] || fail "2 MB were allocated before the kill"

# A forked child has tables of its own: what it frees first is none of its parent's ends.
rm -f forked*.json
"$HEAPPROF_BIN" run -q --sample 64KiB -o 'forked.%p.json' -- "$TARGETS/sampled_sizes" forks
parent=$(jq -r 'select(.heapprof.run.is_fork | not) | input_filename' forked.*.json) child=$(jq -r 'select(.heapprof.run.is_fork) | input_filename' forked.*.json)
take() { sum "take<\\(char\\)$(printf %d "'$1")>" "$2"; } # LETTER FILE
expect_eq "live at exit of A, which the child and the parent freed" "$(take A "$parent" | cut -d' ' -f3-)" "0 0"
[ "$(take A "$parent" | cut -d' ' -f1)" -ge 67108864 ] || fail "64 MiB were not chosen in 64 KiB"
[ "$(take B "$child" | cut -d' ' -f1)" -gt 0 ] || fail "of the child's 1 MB nothing was chosen in 64 KiB"
