# Each rule finds what was planted for it, and nothing else; programs in good order have no findings.
export LC_ALL=C.UTF-8 COLUMNS=100

# found: kinds and functions of the profile's findings, one a line
found() { "$HEAPPROF_BIN" report --findings --format json profile.json | jq -r '.findings[] | "\(.kind) \(.function | sub("[[(].*"; ""))"'; }
finding() { "$HEAPPROF_BIN" report --findings --format json profile.json | jq -r ".findings[0] | $1"; }
within() { [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || fail "$1 is $2, not from $3 to $4"; }
# What paced.h paces takes 1.6 s at most. Where the machine let it stand still for 0.2 s more, its heap was not what was
# planted (it had stopped growing for a fifth of its run): such a run is no answer, three of them are a failure.
stood_still() { [ "$(json profile.json .heapprof.run.duration_ns)" -gt 1800000000 ]; }
planted() {
  local want=$1 try
  shift
  for try in 1 2 3; do
    profile "$TARGETS/$1" "${@:2}"
    expect_eq "exit status of $*" "$status" 0
    expect_complete
    if [ "$(found)" = "$want" ] || ! stood_still; then break; fi
  done
  expect_eq "findings of $*" "$(found)" "$want"
}
seq 1 200000 >numbers.txt

# 3,000 answers of 1,235 bytes; the first tenth of the run counts as setting up.
for how in "" tidy; do
  planted "growth remember_answer" planted_growth $how
  within "what it gained" "$(finding .cost_bytes)" 2800000 3705000
  within "over" "$(finding .over_ns)" 1000000000 2000000000
done

planted "never-freed decode_frame" planted_never_freed
expect_eq "never freed" "$(finding '"\(.cost_bytes) \(.cost_blocks_count) \(.each_bytes)"')" "4800036 12 400003"

planted "small-never-freed read_message" planted_small_never_freed
expect_eq "small blocks" "$(finding '"\(.cost_bytes) \(.cost_blocks_count) \(.each_bytes) \(.allocations_count)"')" \
  "20510000 10000 2051 10000"

planted "start-peak read_part" planted_start_peak
expect_eq "of the start" "$(finding '"\(.cost_bytes) \(.place_at_peak_bytes)"')" "24014000 24014000"
within "later" "$(finding .later_bytes)" 300007 400000

# Room for 2^20 longs and all the powers of two before: half of it was copied; the last block beside the one before is
# the peak.
planted "$(printf 'old-and-new fill_vector\ncopies fill_vector')" planted_copies
expect_eq "left behind" "$(finding .cost_bytes)" 4194304
expect_eq "copied" "$("$HEAPPROF_BIN" report --findings --format json profile.json |
  jq -r '.findings[1] | "\(.cost_bytes) \(.cost_blocks_count) \(.is_estimate)"')" "8388604 21 true"
planted "copies fill_two" planted_copies two
planted "copies append_line" planted_copies realloc
expect_eq "counted" "$(finding .is_estimate)" false
within "moved" "$(finding .cost_bytes)" 7000000 7289940

planted "twins main" planted_twins
expect_eq "twice" "$(finding '"\(.cost_bytes) \(.original.function)"')" "2800004 load_picture()"

for how in "" stream; do
  planted "whole-file $([ -n "$how" ] && echo text_by_stream || echo text_of)" planted_whole_file numbers.txt $how
  within "held" "$(finding .cost_bytes)" "$(stat -c %s numbers.txt)" $((4 * $(stat -c %s numbers.txt)))
done

planted "churn smooth_row" planted_churn
expect_eq "churned" "$(finding '"\(.cost_blocks_count) \(.each_bytes) \(.most_blocks_count)"')" "20000 4099 1"
COLUMNS=60 "$HEAPPROF_BIN" report --findings profile.json >narrow.txt
expect_in narrow.txt "20,000 blocks of 4.00 KiB"
expect_eq "lines beyond 60 columns" "$(awk 'length($0) > 60' narrow.txt)" ""

planted "storm insert_key" planted_storm
expect_eq "blocks" "$(finding '"\(.cost_blocks_count) \(.each_bytes)"')" "300000 40"

# In good order.
for kind in reserved cache large-cache once loads table late-table owned small-cache batches matrices "lines numbers.txt" workspace; do
  # shellcheck disable=SC2086  # a kind and its file
  planted "" clean_heaps $kind
  expect_status 0 "$HEAPPROF_BIN" report --findings profile.json
  expect_eq "line for none" "$(head -n 1 out.txt)" "no findings"
done
