# Names of memory that changed are in CSV as they are in JSON.
jq -c '.heapprof.devices[0].names = [{"category": "model", "name": "KV, \"cache\"", "total_bytes": 1000, "total_count": 1, "max_bytes": 1000, "max_count": 1, "leaked_bytes": 0, "leaked_count": 0}]' "$small" >base.json
jq -c '.heapprof.devices[0].names[0] |= (.max_bytes = 14000 | .total_bytes = 14000)' base.json >grown.json
expect_status 0 "$HEAPPROF_BIN" diff --format json base.json grown.json
cp out.txt diff.json
expect_status 0 "$HEAPPROF_BIN" diff --format csv base.json grown.json
"$PYTHON" - <<'PY' || fail "CSV and JSON differ"
import csv, json
rows = [row for row in csv.DictReader(open("out.txt", newline="")) if row["name"]]
assert [(row["device"], row["metric"], row["category"], row["name"], row["base"], row["current"], row["change"]) for row in rows] == \
    [("host", "named_max_bytes", "model", 'KV, "cache"', "1000", "14000", "13000")], rows
assert len(json.load(open("diff.json"))["names"]) == 1
PY
