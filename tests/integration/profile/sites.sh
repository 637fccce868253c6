# The table of sites: what the queries of the page say of a profile is what the profile says, by jq, SQLite, pandas and
# DuckDB, which comes from npm and is kept in ~/.cache/heapprof.
"$BUILD/tests/make_profile" small >r.json
"$BUILD/tests/make_profile" random 3000 >random.json
"$BUILD/tests/make_profile" hostile >hostile.json
for name in r random hostile; do "$HEAPPROF_BIN" export -q --format sites -o "$name.ndjson" "$name.json"; done
page=$SOURCE/man/heapprof-export.1.scd
# example N: the Nth block of code behind QUERIES
example() { awk -v n="$1" '/^# QUERIES/ { on = 1 } on && /^```/ { in_code = !in_code; count += in_code; next } in_code && count == n' "$page"; }

# Every line is an object with the same names, in the same order, as the page of the format has them.
for name in r random hostile; do
  expect_eq "$name: kinds of lines" "$(jq -c 'keys_unsorted' "$name.ndjson" | sort -u | wc -l)" 1
done
while read -r column; do
  grep -qF "*${column//_/\\_}*" "$SOURCE/man/heapprof-format.5.scd" || case $column in
    place_file | place_line) ;;
    *) fail "the page of the format lacks $column" ;;
  esac
done < <(head -n 1 r.ndjson | jq -r 'keys_unsorted[]')

# Sums, by device and metric.
for pair in peak:peak_bytes total:total_bytes leaked:leaked_bytes allocations:total_count temporary:temporary_count; do
  for name in r random; do
    for device in $(jq -r '.heapprof.devices[].name' "$name.json"); do
      expect_eq "${pair%%:*} of $device in $name" \
        "$(jq -s "map(select(.device == \"$device\" and .metric == \"${pair%%:*}\").value) | add // 0" "$name.ndjson")" \
        "$(jq ".heapprof.devices[] | select(.name == \"$device\") | .totals.${pair##*:}" "$name.json")"
    done
  done
done
# Places are the report's.
"$HEAPPROF_BIN" report --format json r.json >report.json
expect_eq "places at the peak" \
  "$(jq -cs 'map(select(.device == "host" and .metric == "peak" and .value > 0)) | group_by(.place_function) | map([.[0].place_function, (map(.value) | add)]) | sort' r.ndjson)" \
  "$(jq -c '[.devices[0].places[] | select(.peak_bytes > 0) | [.function // (if .address then "0x9F20 (libtile.so.2)" else "[no stack]" end), .peak_bytes]] | sort' report.json)"

# The page's own queries.
have sqlite3 || fail "sqlite3 is not here"
example 3 >query.sh
grep -q '^sqlite3' query.sh || fail "the page's third query is not SQLite's"
bash query.sh >places.txt || fail "SQLite refuses the page's query"
expect_in places.txt "host|build_index(Scene const&)|8000"
example 6 >query.sh
# Memory inside other memory counts once, in what is around it.
leaked=$(jq '[.heapprof.devices[].totals.leaked_bytes] | add' r.json)
jq -c 'if .device == "host" then ., .device = "python", .device = "cuda:0/tensors" else . end' r.ndjson >inner.ndjson
cp r.ndjson all.ndjson && cp inner.ndjson r.ndjson
bash query.sh >modules.txt || fail "jq refuses the page's query"
expect_eq "leaked, by module" "$(awk '{ sum += $1 } END { print sum }' modules.txt)" "$leaked"
gzip -kf r.ndjson && mv r.ndjson.gz inner.ndjson.gz && mv all.ndjson r.ndjson
python=
for candidate in "$PYTHON" /usr/bin/python3; do "$candidate" -c 'import pandas' 2>/dev/null && python=$candidate && break; done
if [ -n "$python" ]; then
  gzip -c r.ndjson >old.ndjson.gz
  jq -c '.heapprof.run.pid = 7 | .pps[0].tb += 1000 | .heapprof.devices[0].totals.total_bytes += 1000' r.json >grown.json
  "$HEAPPROF_BIN" export -q --format sites -o new.ndjson.gz grown.json
  example 4 >query.py
  "$python" query.py >grown.txt || fail "pandas refuses the page's query"
  grep -qE 'build_index.* 1000(\.0)?$' grown.txt || { cat grown.txt >&2; fail "what grew by 1000 bytes is not found"; }
else
  not_tried "pandas (apt-get install python3-pandas)"
fi

cache=$HEAPPROF_TEST_CACHE/duckdb-1.5.6
if [ ! -d "$cache/node_modules/@duckdb/node-api" ] && have npm; then
  mkdir -p "$cache"
  timeout 120 npm install --silent --no-audit --no-fund --prefix "$cache" @duckdb/node-api@1.5.6-r.1 >npm.txt 2>&1 || true
fi
if have node && [ -d "$cache/node_modules/@duckdb/node-api" ]; then
  cp "$SOURCE/tests/support/duckdb.mjs" "$cache/"
  cp inner.ndjson.gz r.ndjson.gz
  example 1 >places.sql
  example 5 >modules.sql
  node "$cache/duckdb.mjs" places.sql >places.txt 2>err.txt || { cat err.txt >&2; fail "DuckDB refuses the page's first query"; }
  expect_in places.txt "host|build_index(Scene const&)|/src/index.cc|212|8000"
  node "$cache/duckdb.mjs" modules.sql >modules.txt 2>err.txt || { cat err.txt >&2; fail "DuckDB refuses the page's last query"; }
  expect_eq "leaked, by module, of DuckDB" "$(awk -F'|' '{ sum += $2 } END { print sum }' modules.txt)" \
    "$leaked"
  # A number that no double holds comes back as it is.
  printf 'SELECT max(value) FROM read_json(%s)' "'large.ndjson'" >large.sql
  head -n 1 r.ndjson | sed 's/"value":[0-9]*/"value":18446744073709551615/' >large.ndjson
  expect_eq "2^64 - 1" "$(node "$cache/duckdb.mjs" large.sql)" 18446744073709551615
else
  not_tried "DuckDB (npm cannot fetch it here)"
fi
