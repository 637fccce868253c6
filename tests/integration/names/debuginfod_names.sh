# With DEBUGINFOD_URLS set, a stripped program's names come from that server; without it, nothing is fetched.
tool=$BUILD/tests/support/symbolize_tool
program=$BUILD/tests/symbolize_programs/gcc_O1/shapes
[ -x "$tool" ] && [ -x "$program" ] || skip "symbolize_tool is not built"
command -v debuginfod >/dev/null || skip "no debuginfod (Debian package debuginfod)"
command -v debuginfod-find >/dev/null || skip "no debuginfod-find (Debian package debuginfod or elfutils)"

mkdir served
objcopy --only-keep-debug "$program" served/shapes.debug
strip -s -o shapes "$program"
cp "$TARGETS/leaky" prog
objcopy --only-keep-debug prog served/prog.debug
strip -s prog
"$HEAPPROF_BIN" run -q -o bare.json -- ./prog
cp bare.json late.json
id=$(readelf -n shapes | awk '/Build ID/ { print $3 }')
"$program" | awk '$2 == "inlined" { print $1 }' | while read -r address; do printf '%x\n' $((0x$address - 1)); done >addresses

export DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_TIMEOUT=10 HOME=$PWD
"$tool" ./shapes none <addresses >out.txt 2>err.txt || fail "the tool fails without a server"
expect_not_in out.txt "shapes::measure"
[ ! -e cache ] || fail "something was asked for without DEBUGINFOD_URLS"

stop_server() { kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }
at_end() { [ -z "${server:-}" ] || stop_server; }
export no_proxy=127.0.0.1
# A port that is taken makes the server end at once: the next one is tried.
for attempt in 1 2 3 4 5; do
  port=$((20000 + RANDOM % 20000))
  debuginfod -F -d :memory: -p $port -t 60 served >server.txt 2>&1 &
  server=$!
  export DEBUGINFOD_URLS=http://127.0.0.1:$port/
  for wait in $(seq 100); do
    debuginfod-find debuginfo "$id" >/dev/null 2>&1 && break 2
    kill -0 "$server" 2>/dev/null || break
    rm -rf cache  # it remembers what was not found
    sleep 0.1
  done
  stop_server
done
debuginfod-find debuginfo "$id" >/dev/null 2>&1 || fail "no server of debug information answers: $(tail -n 5 server.txt)"
rm -rf cache
"$tool" ./shapes none <addresses >out.txt 2>err.txt || { stop_server; fail "the tool fails with a server"; }
mv out.txt shapes.txt

# A profile gets its names from there later, also where the program is not; and what the server said is told.
asked_for=$(readelf -n prog | awk '/Build ID/ { print $3 }')
is_scanned() { rm -rf cache && debuginfod-find debuginfo "$asked_for" >/dev/null 2>&1; }
wait_for 60 "the server's debug information of prog" is_scanned
rm -rf cache
symbolize() { "$HEAPPROF_BIN" symbolize "$@" 2>said.txt || { stop_server; fail "symbolize $*: $(cat said.txt)"; }; }
symbolize --no-debuginfod -o off.json bare.json
[ ! -e cache ] || { stop_server; fail "something was asked for with --no-debuginfod"; }
expect_in said.txt "debuginfod was not asked"
symbolize late.json
mv prog prog.away
symbolize -o gone.json bare.json
mv prog.away prog
jq -c '.heapprof.modules |= map(select(.path | endswith("/prog")).build_id |= "00" + .[2:])' bare.json >unknown.json
symbolize -o nobody.json unknown.json
expect_in said.txt "debuginfod has none"
stop_server
expect_sum '^leak_blocks' "6175 5 6175 5" late.json
cmp late.json gone.json || fail "without the program other names are found"
expect_eq "names of --no-debuginfod" "$(jq -r '.ftbl[]' off.json | grep -c leak_blocks || true)" 0
rm -rf cache
expect_status 0 "$HEAPPROF_BIN" symbolize -o none.json bare.json
expect_in err.txt "debuginfod did not answer"
"$tool" ./shapes none <addresses >/dev/null 2>&1 || fail "the tool fails with a server that is gone"
expect_in shapes.txt "shapes::Circle::area() const"
expect_in shapes.txt "shapes::twice_area(shapes::Circle const&)"
expect_in shapes.txt "shapes::measure(shapes::Circle const&)"
expect_in shapes.txt "shapes.cc"
