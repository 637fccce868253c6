# Go's own pprof reads what heapprof serves, from the network: what it says of each function is what a snapshot says,
# and a Go program's own heap can be put beside it.
have go || skip "Go's pprof is not installed (apt-get install golang-go)"
export HOME=$PWD GOFLAGS=-mod=mod GOTOOLCHAIN=local
go tool pprof -h >/dev/null 2>help.txt || grep -q sample_index help.txt || skip "this Go has no pprof: $(head -n 1 help.txt)"
source "$SOURCE/tests/support/cli_checks.sh"
holds_live_starts
at_end() { live_ends; }
serves "$target"
"$HEAPPROF_BIN" snapshot -q -o now.json "$target"
for pair in alloc_space:tb inuse_space:eb alloc_objects:tbk inuse_objects:ebk; do
  type=${pair%%:*}
  go tool pprof -top -nodecount=1000000 -nodefraction=0 -unit=B -sample_index="$type" "$url/debug/pprof/heap" >top.txt 2>err.txt ||
    { cat err.txt >&2; fail "pprof -top of $type"; }
  curl -sS -o heap.pb.gz "$url/debug/pprof/heap"
  "$PYTHON" "$SOURCE/tests/support/pprof_totals.py" now.json "${pair##*:}" top.txt heap.pb.gz || fail "another $type"
done
go tool pprof -top "$url/debug/pprof/heap" >top.txt 2>err.txt
expect_in top.txt "Type: inuse_space"
expect_in top.txt "File: holds_live"
go tool pprof -top "$url/debug/pprof/allocs" >top.txt 2>err.txt
expect_in top.txt "Type: alloc_space"
go tool pprof -tags "$url/debug/pprof/heap" >tags.txt 2>err.txt
for text in "device: Total" ": host" ": $target" ": holds_live"; do expect_in tags.txt "$text"; done
go tool pprof -top -tagfocus=pid="$target" "$url/debug/pprof/heap" >top.txt 2>err.txt
expect_in top.txt "hold"
go tool pprof -top "$url/pid/$target/debug/pprof/allocs?seconds=1" >top.txt 2>err.txt || fail "an interval: $(cat err.txt)"
# A snapshot that takes long makes it longer than it was asked for.
grep -qE 'Duration: [1-9][0-9.]*s' top.txt || { cat top.txt >&2; fail "an interval of less than a second"; }
go tool pprof -top -base "$url/debug/pprof/heap" "$url/debug/pprof/heap" >top.txt 2>err.txt || fail "a difference: $(cat err.txt)"
! go tool pprof -top "$url/debug/pprof/nothing" >top.txt 2>err.txt || fail "what is not there was read"
expect_in err.txt "there is no /debug/pprof/nothing here [HP266]"
# The types are those of a real Go program, in its order.
mkdir program
cat >program/main.go <<'GO'
package main

import (
	"os"
	"runtime/pprof"
)

func main() { pprof.Lookup("heap").WriteTo(os.Stdout, 0) }
GO
if go run program/main.go >go.pb.gz 2>err.txt; then
  types() { go tool pprof -raw "$1" 2>/dev/null | sed -n '/^Samples:/{n;p;q}' | sed 's/\[dflt\]//; s/^ *//; s/ *$//'; }
  curl -sS -o heap.pb.gz "$url/debug/pprof/heap"
  expect_eq "sample types" "$(types heap.pb.gz)" "$(types go.pb.gz)"
else
  not_tried "a Go program's own heap: go run: $(head -n 1 err.txt)"
fi
kill $serve
wait $serve || true
holds_live_ends
