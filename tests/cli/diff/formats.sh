# JSON, CSV and Markdown have the same change.
with_grown_profile a.json
expect_status 0 "$HEAPPROF_BIN" diff --format json a.json grown.json
expect_eq "JSON" "$(jq -c '[.grew, .devices[0].metrics.peak_bytes.change, ([.devices[0].places[].peak_bytes.change] | add), .devices[0].metrics.peak_bytes.beyond_tolerance]' out.txt)" "[true,100000,100000,true]"
expect_status 0 "$HEAPPROF_BIN" diff --format csv a.json grown.json
expect_eq "CSV" "$("$PYTHON" -c 'import csv; print([r["change"] for r in csv.DictReader(open("out.txt")) if r["metric"] == "peak_bytes"])')" "['100000', '100000']"
expect_status 0 "$HEAPPROF_BIN" diff --format markdown a.json grown.json
head -n 1 out.txt >first.txt
expect_in first.txt "**host peak grew"
