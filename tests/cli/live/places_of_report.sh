# Places of top are those of a report of the same program, with the same sums: with frames of Python, imports and what
# the interpreter does by itself.
cat >works.py <<'SCRIPT'
import json, sys
kept = [bytearray(100_003) for _ in range(20)]
def parse(n):
    return json.loads("[" + ",".join('{"a": [1, 2, 3]}' for _ in range(n)) + "]")
kept.append(parse(500))
print("ready", flush=True)
sys.stdin.readline()
SCRIPT
mkfifo go said
"$HEAPPROF_BIN" run -q -o final.json "$PYTHON" works.py <go >said &
run=$!
at_end() { live_ends; }
exec 8>go 9<said
read -r word <&9
target=$(pgrep -o -P "$run")
expect_status 0 "$HEAPPROF_BIN" top --once --interval 250ms --format json "$target"
cp out.txt top.json
expect_status 0 "$HEAPPROF_BIN" snapshot -q -o now.json "$target"
expect_status 0 "$HEAPPROF_BIN" report --format json --top 100000 --sort total now.json
cp out.txt report.json
sums='[.devices[0].places[] | [.function, .total_bytes, .allocations_count]] | sort | .[]'
jq -c "$sums" top.json >top.txt
jq -c "$sums" report.json >report.txt
expect_in top.json '"function":"parse","location":"works.py:4"'
[ "$(wc -l <top.txt)" -gt 3 ] || fail "too few places"
diff report.txt top.txt >&2 || fail "other places"
expect_not_in top.txt '["",'
echo >&8
status=0
wait $run || status=$?
expect_eq "the program's end" $status 0
