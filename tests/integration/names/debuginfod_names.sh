# With DEBUGINFOD_URLS set, a stripped program's names come from that server; without it, nothing is fetched.
tool=$BUILD/tests/support/symbolize_tool
program=$BUILD/tests/symbolize_programs/gcc_O1/shapes
[ -x "$tool" ] && [ -x "$program" ] || skip "symbolize_tool is not built"
command -v debuginfod >/dev/null || skip "no debuginfod (Debian package debuginfod)"
command -v debuginfod-find >/dev/null || skip "no debuginfod-find (Debian package debuginfod or elfutils)"

mkdir served
objcopy --only-keep-debug "$program" served/shapes.debug
strip -s -o shapes "$program"
id=$(readelf -n shapes | awk '/Build ID/ { print $3 }')
"$program" | awk '$2 == "inlined" { print $1 }' | while read -r address; do printf '%x\n' $((0x$address - 1)); done >addresses

export DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_TIMEOUT=10 HOME=$PWD
"$tool" ./shapes none <addresses >out.txt 2>err.txt || fail "the tool fails without a server"
expect_not_in out.txt "shapes::measure"
[ ! -e cache ] || fail "something was asked for without DEBUGINFOD_URLS"

stop_server() { kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }
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
rm -rf cache
"$tool" ./shapes none <addresses >out.txt 2>err.txt || { stop_server; fail "the tool fails with a server"; }
stop_server
expect_in out.txt "shapes::Circle::area() const"
expect_in out.txt "shapes::twice_area(shapes::Circle const&)"
expect_in out.txt "shapes::measure(shapes::Circle const&)"
expect_in out.txt "shapes.cc"
