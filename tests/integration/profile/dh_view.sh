# The profile opens in Valgrind's unmodified viewer, with the right totals and without an error.
viewer=
for place in /usr/libexec/valgrind /usr/lib/valgrind /usr/lib/x86_64-linux-gnu/valgrind /usr/local/libexec/valgrind; do
  [ -f "$place/dh_view.html" ] && viewer=$place/dh_view.html && break
done
[ -n "$viewer" ] || missing valgrind "Valgrind's dh_view.html is not installed (apt-get install valgrind)"
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
  missing chromium "Chromium is not installed (apt-get install chromium)"
command -v python3 >/dev/null || skip "python3 is not installed"

make=$BUILD/tests/make_profile
for kind in small hostile empty no-stack; do "$make" "$kind" >"$kind.json"; done
"$make" random 2000 >random.json
"$make" grouped 300000 >large.json
expect_eq "at least 50,000 sites" "$(($(jq '.pps | length' large.json) >= 50000))" 1
"$make" rewrite "$SOURCE/tests/golden/foreign/valgrind_heap.json" >valgrind.json
"$HEAPPROF_BIN" merge -q -o merged.json small.json random.json
for kind in small hostile; do "$HEAPPROF_BIN" export -q --format dhat --device cuda:0 -o "$kind.cuda.json" "$kind.json"; done
expect_eq "bytes of a device by itself" "$(jq '[.pps[].gb] | add' small.cuda.json)" 1048576
"$HEAPPROF_BIN" run -q --interval 10ms -o snapshots.json -- "$TARGETS/snapshots" 1 2 20 exit books.txt
"$PYTHON" "$SOURCE/tests/support/dh_view.py" "$viewer" snapshots.json small.json hostile.json empty.json no-stack.json random.json large.json valgrind.json merged.json small.cuda.json hostile.cuda.json

# The check itself: a location that comes twice must be noticed.
jq -c '.pps += [.pps[0]]' small.json >repeated.json
if "$PYTHON" "$SOURCE/tests/support/dh_view.py" "$viewer" repeated.json >repeated.txt; then fail "a repeated location was not noticed"; fi
expect_in repeated.txt "repeated location"
