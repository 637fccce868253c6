# What changed in a program's scopes is shown by their paths; nothing where nothing changed, and JSON has the numbers.
record() { expect_status 0 "$HEAPPROF_BIN" run -q -o "$1.json" "$TARGETS/scope_work" "${@:2}"; }
record base 5 1000
record same 5 1000
record grown 10 3000

expect_status 0 "$HEAPPROF_BIN" diff base.json grown.json
sed -n '/^SCOPES/,/^$/p' out.txt | tr -s ' ' >scopes.txt
expect_in scopes.txt "SCOPES 2 of 2 changed"
expect_in scopes.txt "load > json: parse"
expect_in scopes.txt " count 5 10 +5 +100.0 %"
expect_in scopes.txt " allocated 4.88 KiB 29.3 KiB +24.4 KiB +500.0 %"
expect_in scopes.txt " kept +4.88 KiB +29.3 KiB +24.4 KiB +500.0 %"
expect_in scopes.txt " peak inside 1000 B 2.93 KiB +1.95 KiB +200.0 %"
# The inner scope, where it happened, stands before the one around it.
[ "$(line_of scopes.txt 'load > json: parse')" -lt "$(grep -nx load scopes.txt | cut -d: -f1)" ] || fail "load comes first"

# Without times, which may differ, nothing changed between two runs of the same.
expect_status 0 "$HEAPPROF_BIN" diff --format json --all base.json same.json
expect_eq "what differs" "$(jq -c '[.scopes.changes[].numbers[].number | select(test("_ns$") | not)]' out.txt)" '[]'
expect_status 0 "$HEAPPROF_BIN" diff base.json base.json
expect_not_in out.txt SCOPES

expect_status 0 "$HEAPPROF_BIN" diff --format json base.json grown.json
parse='.scopes.changes[] | select(.path[-1].name == "parse")'
expect_eq "path" "$(jq -c "$parse | .path" out.txt)" '[{"name":"load"},{"category":"json","name":"parse"}]'
expect_eq "numbers" "$(jq -c "$parse | [.numbers[] | select(.number == \"allocated_bytes\")]" out.txt)" \
  '[{"number":"allocated_bytes","device":"host","base":5000,"current":30000,"change":25000}]'

# CSV has the same numbers, in rows of the same columns.
expect_status 0 "$HEAPPROF_BIN" diff --format json base.json grown.json
mv out.txt grown.txt
expect_status 0 "$HEAPPROF_BIN" diff --format csv base.json grown.json
"$PYTHON" - <<'PY' || fail "CSV and JSON differ"
import csv, json
rows = [row for row in csv.DictReader(open("out.txt")) if row["scope"]]
listed = [(" > ".join(": ".join(filter(None, (part.get("category"), part["name"]))) for part in scope["path"]), number)
          for scope in json.load(open("grown.txt"))["scopes"]["changes"] for number in scope["numbers"]]
assert len(rows) == len(listed) > 5 and all(None not in row and None not in row.values() for row in rows), rows
for row, (path, number) in zip(rows, listed):
    assert (row["scope"], row["metric"], row["device"]) == (path, number["number"], number.get("device", "")), row
    assert [int(row[side]) for side in ("base", "current", "change")] == [number[side] for side in ("base", "current", "change")], row
assert (rows[0]["scope"], rows[0]["base_begun_count"], rows[0]["current_begun_count"]) == ("load > json: parse", "5", "10"), rows[0]
PY

# A profile without scopes has nothing to compare them with.
with_leaky_profile leaky.json
expect_status 0 "$HEAPPROF_BIN" diff leaky.json base.json
expect_in out.txt "SCOPES  none in base, 2 in current"
expect_not_in out.txt "json: parse"
expect_status 0 "$HEAPPROF_BIN" diff leaky.json leaky.json
expect_not_in out.txt SCOPES
