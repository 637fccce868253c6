# --follow NAME: programs of that name come and go; their labels tell them apart, and what is of one has to be named.
at_end() { live_ends; kill -9 ${others:-} 2>/dev/null || true; }
# A name that no other test's program has.
cp "$TARGETS/holds_live" "follow_$$"
serves --follow "follow_*$$" --follow nobody
gets 200 /metrics
gets 200 /debug/pprof/
others=
start_one() {  # start_one N [ENVIRONMENT]
  mkfifo "go.$1" "said.$1"
  env "${@:2}" "$HEAPPROF_BIN" run -q -o "final.$1.json" "./follow_$$" <"go.$1" >"said.$1" &
  others="$others $!"
  eval "exec $((10 + $1))>go.$1 $((20 + $1))<said.$1"
  read -r word <&$((20 + $1))
  expect_eq "the program" "$word" held
  eval "target$1=$(pgrep -o -P $!)"
}
start_one 1 RANK=3
start_one 2 POD_NAME=web-7
# Who is profiled is looked up once a second.
# shellcheck disable=SC2154  # start_one sets them
until_body "heapprof_live_bytes{pid=\"$target1\",command=\"follow_$$\",rank=\"3\",device=\"host\"} $((7 * 1235))" /metrics
# shellcheck disable=SC2154
until_body "heapprof_live_bytes{pid=\"$target2\",command=\"follow_$$\",pod=\"web-7\",device=\"host\"} $((7 * 1235))" /metrics
until_body "heap profile: 14:" '/debug/pprof/heap?debug=1'
expect_eq "sums of both" "$(head -n 1 body.txt)" \
  "heap profile: 14: $((14 * 1235)) [20: $((2 * (7 * 1235 + 3 * 1237)))] @ heapprofile"
expect_in body.txt "# device=host pid=$target1 command=follow_$$ rank=3"
gets 400 /profile.json
expect_in body.txt "add ?pid="
gets 200 "/profile.json?pid=$target2"
expect_eq "bytes of one" "$(numbers body.txt)" "[$((7 * 1235 + 3 * 1237)),$((7 * 1235)),7,$((7 * 1235 + 1237))]"
gets 200 "/pid/$target1/debug/pprof/heap?debug=1"
expect_not_in body.txt "pid=$target2"
# One ends: the other is served on.
echo go >&11
set -- $others
wait "$1"
until_status 404 "/pid/$target1/profile.json"
until_body "pid=\"$target2\"" /metrics
expect_not_in body.txt "pid=\"$target1\""
expect_in body.txt "pid=\"$target2\""
gets 404 "/pid/$target1/profile.json"
echo go >&12
wait "$2"
until_status 404 /profile.json
expect_in body.txt "no process is profiled just now"
kill $serve
status=0
wait $serve || status=$?
expect_eq "the server's end" $status 143
