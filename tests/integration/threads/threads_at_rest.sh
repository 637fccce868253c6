# Threads cost memory only as far as they need it: 60 that allocated busily, all at once, leave little when they rest,
# and did not take much meanwhile. What is ours is what is resident beyond the same program without us.
read -r plain_most plain_rest < <("$TARGETS/threads_at_rest" 60 20000)
# What is taken before they rest is little while the collector has the processor in time: else rings grow (three tries).
run() {  # FLAG: sets `rest`, of each thread, and `most`
  local status=0
  "$HEAPPROF_BIN" run "$1" -o profile.json -- "$TARGETS/threads_at_rest" 60 20000 >out.txt 2>err.txt || status=$?
  expect_eq "exit status" "$status" 0
  read -r most rest <out.txt
  rest=$(((rest - plain_rest) / 60))
  most=$((most - plain_most))
  echo "$1: $rest KiB a thread at rest, $most KiB in all at most"
  [ $rest -le 256 ] || fail "$rest KiB a thread at rest"
}
run --on-full=drop  # nobody waits there: a ring grows rather than lose an event
for _ in 1 2 3; do
  run --on-full=wait
  check_profile profile.json
  expect_complete
  expect_eq "blocks" "$(sum '^allocate_at' | cut -d' ' -f2)" 1200000
  [ $most -gt $((20 << 10)) ] || break
done
[ $most -le $((20 << 10)) ] || fail "$most KiB of 60 busy threads"
