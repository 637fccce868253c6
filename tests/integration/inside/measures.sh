# Whose memory a measurement found is told to the program while it runs: every measure, around phases of others, in
# threads at once, in a child; what cannot be told is refused, and nobody waits for ever.
at=$SOURCE/tests/targets/inside/measures.cc
line() { line_of "$at" "$1"; }
profile "$TARGETS/measures" sites
# part NAME: what it said of it
part() { sed -n "/^== $1 /,/^== /p" out.txt | sed '1d;/^== /d'; }
expect_in out.txt "total 8010000 in 1003, live 300000"
own() { grep -oE '[a-z_]+  measures.cc:[0-9]+' <<<"$1" | head -n "$2"; }
expect_eq "the peak" "$(part peak | grep -E '^[0-9l]')" "4.77 MiB in 1 block
977 KiB in 1 block"
expect_eq "whose it is" "$(part peak | grep -oE '(take|keep)_[a-z_]+|sites')" "take_for_the_peak
sites
keep_for_ever
sites"
expect_eq "the bytes" "$(part bytes | grep -E '^[0-9l]')" "4.77 MiB in 1 block
1.91 MiB in 1 block
977 KiB in 1 block
9.77 KiB in 1,000 blocks"
expect_eq "the blocks" "$(part blocks | grep -E '^[0-9l]' | head -1)" "9.77 KiB in 1,000 blocks"
expect_eq "what lives" "$(part live | grep -E '^[0-9l]')" "977 KiB in 1 block
less 684 KiB in 1 block by 1 site, of what was live at the begin"
expect_eq "the inner peak" "$(part 'inner peak')" "$(part peak)"
expect_eq "mapped" "$(part mapped | grep -E '^[0-9l]')" "1.00 MiB in 1 block"
expect_in out.txt "== nothing 0"
expect_eq "nothing" "$(part nothing)" "no site has any of it"
expect_in out.txt "  take_for_the_peak  measures.cc:$(($(line 'void* take_for_the_peak') + 1))"
check_profile profile.json
expect_complete

for how in wrong threads forked most; do
  profile "$TARGETS/measures" $how
  expect_eq "$how: exit status" "$status" 0
  expect_in out.txt done
  check_profile profile.json
done
# Without a profiler, nothing is asked.
"$TARGETS/measures" sites >out.txt && fail "measured without a profiler"

# heapprof is killed while it answers.
rm -f words
mkfifo words
"$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/measures" loop >words 2>err.txt &
cli=$!
exec 3<words
read -r -t 60 word <&3
expect_eq "the program's word" "$word" go
wait_for 60 "a question" sleeps_in "$(pgrep -P $cli -x measures)" 202  # futex
kill -9 $cli
wait $cli 2>/dev/null || true
read -r -t 60 word <&3 || fail "the program waits for ever"
case "$word" in "ended -1" | "ended -2") ;; *) fail "heapprof was killed: '$word'" ;; esac
