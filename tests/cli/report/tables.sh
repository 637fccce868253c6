# report --table: every table that a report can show is there as CSV and as JSON, with the columns that the page names,
# and both say the same.
cp "$small" r.json
tables=$("$HEAPPROF_BIN" report --table no-such-table r.json 2>&1 | sed -nE 's/.*--table takes (.*), not .*/\1/p' | sed 's/ or /, /; s/,//g')
[ "$(wc -w <<<"$tables")" -ge 38 ] || fail "there are fewer tables than there were: $tables"
page=$SOURCE/man/heapprof-report.1.scd
# columns TABLE: as the page has them, with commas between
columns() {
  awk -v name="*$1*" '/^# TABLES/ { on = 1 } /^# FINDINGS/ { on = 0 } on && $0 == name { here = 1; next } here && /^\*/ { exit } here' "$page" |
    awk 'NF == 0 { if (seen++) exit; next } seen' | tr -d '\t\n \\.'
}
pairs=0
same_in_both() { # FILE TABLE FLAGS…: the cells of CSV and of JSON; judged by judge_pairs
  "$HEAPPROF_BIN" report --table "$2" --format csv "${@:3}" "$1" >t.csv 2>err.txt || { cat err.txt >&2; fail "$2 is refused"; }
  "$HEAPPROF_BIN" report --table "$2" --format json "${@:3}" "$1" >t.json 2>err.txt || fail "$2 is refused as JSON"
  pairs=$((pairs + 1))
  mkdir -p pairs
  cp t.csv "pairs/$pairs.$2.csv"
  cp t.json "pairs/$pairs.$2.json"
}
judge_pairs() {
  "$PYTHON" - <<'PY' || fail "CSV and JSON say two things"
import csv, glob, json
text = lambda value: "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
plain = lambda cell: cell[1:] if cell[:2] in ("'=", "'+", "'-", "'@") else cell  # what a spreadsheet would calculate
for name in glob.glob("pairs/*.csv"):
    rows = list(csv.reader(open(name, newline="", encoding="utf-8")))
    table = json.load(open(name[:-4] + ".json", encoding="utf-8"))
    assert table["version"] == 1 and table["table"] == name.split(".")[1], name
    assert rows[0] == table["columns"], (name, rows[0], table["columns"])
    assert [list(map(plain, row)) for row in rows[1:]] == [[text(row[name]) for name in table["columns"]] for row in table["rows"]], name
    assert all(list(row) == table["columns"] for row in table["rows"]), name
PY
}
for table in $tables; do
  same_in_both r.json "$table"
  expect_eq "columns of $table" "$(head -n 1 t.csv)" "$(columns "$table")"
done
"$BUILD/tests/make_profile" hostile >hostile.json
"$HEAPPROF_BIN" merge -q -o merged.json "$small" hostile.json
for table in $tables; do
  for file in hostile.json merged.json "$foreign/valgrind_heap.json" "$foreign/dhat_rs.json"; do same_in_both "$file" "$table"; done
done
expect_eq "what a profile is the sum of" "$("$HEAPPROF_BIN" report --table inputs --format csv merged.json 2>err.txt | wc -l)" 5

# Of a program with scopes, marks and snapshots: rows for each, and both forms of them.
"$HEAPPROF_BIN" run -q -o scopes.json -- "$TARGETS/instances" 2 4 400 books.txt exit >out.txt
"$HEAPPROF_BIN" run -q --interval 10ms -o snapshots.json -- "$TARGETS/snapshots" 1 2 20 exit books.txt >out.txt
for table in $tables; do
  same_in_both scopes.json "$table"
  same_in_both snapshots.json "$table"
done
judge_pairs
[ "$(ls pairs/*.csv | wc -l)" = "$pairs" ] || fail "some pairs were not judged"
rows() { "$HEAPPROF_BIN" report --table "$2" --format json "$1" 2>err.txt | jq "$3"; }
expect_eq "scopes" "$(rows scopes.json scopes '.rows | length')" "$(jq '.heapprof.scopes.scopes | length' scopes.json)"
expect_eq "runs" "$(rows scopes.json instances '[.rows[] | [.scope, .instance]] | unique | length')" \
  "$(jq '[.heapprof.scopes.scopes[].instances.begin_ns // [] | length] | add' scopes.json)"
expect_eq "growth of runs" "$(rows scopes.json instances '[.rows[] | [.scope, .instance, .growth_bytes]] | unique | map(.[2]) | add')" \
  "$(jq '[.heapprof.scopes.scopes[].instances.growth_bytes // [] | .[]] | add' scopes.json)"
expect_eq "snapshots" "$(rows snapshots.json snapshots '[.rows[].snapshot] | max')" "$(jq '.heapprof.snapshots.snapshots | length' snapshots.json)"
expect_eq "live at the last snapshot, by place" "$(rows snapshots.json snapshot-places '[.rows[] | select(.device == "host").current_bytes] | add')" \
  "$(jq '[.heapprof.snapshots.snapshots[-1].devices[] | select(.device == "host").live_bytes] | add' snapshots.json)"
last=$(jq '.heapprof.snapshots.snapshots | length' snapshots.json)  # the second one may come before the first block
expect_eq "between two" "$("$HEAPPROF_BIN" report --table snapshot-places --between 1.."$last" --format json snapshots.json | jq '.rows[0] | [.base_snapshot, .current_snapshot]' -c)" "[1,$last]"

# What is chosen: devices, places by a metric, rows.
expect_eq "places" "$("$HEAPPROF_BIN" report --table places --format csv r.json)" "$("$HEAPPROF_BIN" report --format csv r.json)"
expect_eq "one place" "$("$HEAPPROF_BIN" report --table places --format csv --top 1 --sort total r.json)" \
  "$("$HEAPPROF_BIN" report --format csv --top 1 --sort total r.json)"
expect_eq "devices" "$("$HEAPPROF_BIN" report --table devices --format csv --device cuda:0 r.json | cut -d, -f1 | paste -sd ' ')" "device cuda:0"
expect_eq "rows" "$("$HEAPPROF_BIN" report --table timeline --format csv --top 3 r.json | wc -l)" 4

# Sums: the totals of devices, from sites, from the tree, from timelines.
for pair in peak_bytes:peak_bytes total_bytes:total_bytes allocations_count:total_count temporary_count:temporary_count unsuppressed_leaked_bytes:leaked_bytes; do
  for device in host cuda:0; do
    expect_eq "root of the tree of $device, ${pair%%:*}" \
      "$("$HEAPPROF_BIN" report --table tree --format json --device $device r.json | jq ".rows[0].${pair%%:*}")" \
      "$("$HEAPPROF_BIN" report --table devices --format json --device $device r.json | jq ".rows[0].${pair##*:}")"
  done
done
expect_eq "the timeline's largest" "$("$HEAPPROF_BIN" report --table timeline --format json --device host r.json | jq '[.rows[].max_bytes] | max')" \
  "$("$HEAPPROF_BIN" report --table devices --format json --device host r.json | jq '.rows[0].peak_bytes')"

# What does not go with it.
refused 2 report --table places r.json <<'WORDS'
heapprof: error: --table needs --format csv too [HP159]
  fix:     add --format csv
  instead: leave --table out
WORDS
expect_status 2 "$HEAPPROF_BIN" report --table places --format csv --tree r.json
expect_in err.txt "[HP"
expect_status 2 "$HEAPPROF_BIN" report --table places --format dot --scopes r.json
expect_status 2 "$HEAPPROF_BIN" report --format csv --findings r.json
