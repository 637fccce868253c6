# Time that kernels take on the device, by scope: to the nanosecond on a driver whose time is known. None is made up:
# what has no time is counted, and nothing of ours is taken for the program's.
times() {  # MODE ARGS…
  local mode=$1
  shift
  status=0
  rm -f profile.json
  "$HEAPPROF_BIN" run -q --gpu-time="$mode" -o profile.json -- "$TARGETS/cuda_gpu_time" "$@" >out.txt 2>err.txt || status=$?
  expect_eq "exit status of '$*', $mode" "$status: $(cat err.txt)" "0: "
  check_profile profile.json
  expect_complete
  expect_eq "the program's own events" \
    "$(jq '[.heapprof.device_api.calls // [] | .[] | select(.call | test("record event|synchronize event")) | .calls_count] | add // 0' profile.json)" 0
}
gpu() { jq -r --arg name "$1" '.heapprof.scopes.scopes[] | select(.name == $name) | .gpu // {} | "\(.time_ns) ns in \(.intervals_count)"' profile.json; }
of_all() { jq -r ".heapprof.scopes.gpu_time.$1" profile.json; }

"$TARGETS/cuda_gpu_time" scopes 3 || fail "without heapprof: $?"
for mode in deferred scope immediate; do
  times $mode scopes 100
  case $mode in immediate) step=400 inner=300 ;; *) step=200 inner=200 ;; esac
  expect_eq "$mode: step" "$(gpu step)" "700000 ns in $step"
  expect_eq "$mode: inner" "$(gpu inner)" "1500000 ns in $inner"
  expect_eq "$mode: outside" "$(of_all outside_ns) $(of_all outside_intervals_count)" "4000 1"
  expect_eq "$mode: mode" "$(of_all mode)" $mode
  expect_eq "$mode: without a time" "$(of_all unread_intervals_count) $(of_all captured_launches_count) $(of_all untimed_launches_count)" "0 0 0"
  case $mode in
    deferred) expect_eq "waits" "$(of_all waits_count) $(of_all waits_ns)" "0 0" ;;
    scope) expect_eq "waits: four for each step, and one for what was launched before" "$(of_all waits_count)" 401 ;;
    immediate) expect_eq "waits" "$(of_all waits_count)" 701 ;;
  esac
  "$HEAPPROF_BIN" report --scopes --color never profile.json >report.txt
  expect_in report.txt "--gpu-time=$mode"
  grep -qE ' 2 ms +99\.8 % .* step$' report.txt || fail "$mode: $(cat report.txt)"
  grep -qE ' 2 ms +68\.1 % .* inner$' report.txt || fail "$mode: $(cat report.txt)"
  tr -s " \n" " " <report.txt >words.txt
  [ $mode = deferred ] || expect_in words.txt "; the program waited"
done
"$HEAPPROF_BIN" report --scopes --stable --color never profile.json >report.txt
expect_not_in report.txt " ms"
cp profile.json again.json
"$HEAPPROF_BIN" merge -o sum.json profile.json again.json 2>/dev/null || fail "merge: $?"
mv sum.json profile.json
expect_eq "merged" "$(gpu step), $(of_all mode), $(of_all outside_ns)" "1400000 ns in 800, immediate, 8000"

times off scopes 10
expect_eq "off" "$(jq '.heapprof.scopes.gpu_time, (.heapprof.scopes.scopes[] | .gpu)' profile.json | sort -u)" null
"$HEAPPROF_BIN" report --scopes --color never profile.json >report.txt
expect_not_in report.txt "GPU time"

times deferred capture
expect_eq "captured" "$(of_all captured_launches_count) $(gpu captured) $(of_all outside_ns)" "5 3000 ns in 1 3000"
"$HEAPPROF_BIN" report --scopes --color never profile.json >report.txt
tr -s " \n" " " <report.txt >words.txt
expect_in words.txt "5 launches without: captured"

for threads in 1 8 64; do
  times deferred threads $threads
  expect_eq "$threads threads" "$(gpu thread | cut -d ' ' -f 1)" $((threads * 2000000))
  # An interval that another thread is just looking at is over, and the next launch begins one more.
  intervals=$(gpu thread | cut -d ' ' -f 4)
  [ "$intervals" -ge $((threads * 1000)) ] && [ "$intervals" -le $((threads * 2000)) ] || fail "$threads threads: $intervals intervals"
done

times deferred end
expect_eq "read at the end" "$(gpu last) $(of_all unread_intervals_count)" "9000 ns in 1 0"
times deferred ends_context
expect_eq "read when its context ends" "$(gpu last) $(of_all unread_intervals_count)" "9000 ns in 1 0"
times deferred unread
expect_eq "not complete at the end" "$(gpu last) $(of_all unread_intervals_count)" "null ns in null 1"
"$HEAPPROF_BIN" report --scopes --color never profile.json >report.txt
tr -s " \n" " " <report.txt >words.txt
expect_in words.txt "1 interval not complete when looked at last"

# The table of intervals is full, and then is not.
times deferred full 5000
expect_eq "full" "$(gpu full) $(of_all untimed_launches_count)" "4096000 ns in 4096 904"
expect_eq "after it" "$(gpu after)" "1000 ns in 1"

FAKE_CUDA_EVENTLESS=1 times immediate scopes 10
expect_eq "without events" "$(gpu step) $(of_all untimed_launches_count)" "null ns in null 71"
"$HEAPPROF_BIN" report --scopes --color never profile.json >report.txt
tr -s " \n" " " <report.txt >words.txt
expect_in words.txt "71 launches without: no event available"

expect_status 125 "$HEAPPROF_BIN" run --gpu-time=later true
expect_in err.txt "--gpu-time"
