# Our JSON: integers, and what the terminal said.
made check_outputs write_check_outputs
"$PYTHON" - <<'PY' || fail "the JSON is not what it was"
import json
ours = json.load(open("out.json"))
assert ours["version"] == 1 and [check["outcome"] for check in ours["checks"]] == ["fail", "fail", "program failed"]
first = ours["checks"][0]
by = {(line["device"], line["metric"]): line for line in first["limits"]}
peak = sum(point["gb"] for point in json.load(open("small.json"))["pps"])
assert by["host", "peak"]["value"] == peak and by["host", "peak"]["limit"] == 1024 and by["host", "peak"]["outcome"] == "fail"
assert by["host", "peak"]["culprit"]["function"] == "build_index" and by["host", "peak"]["culprit"]["value"] <= peak
assert by["host", "leaked"]["outcome"] == "ok" and by["cuda:0", "peak"]["value"] > 0
assert ours["checks"][2]["limits"] == [] and ours["checks"][2]["trouble"] == "the program failed: exit 3"
assert first["devices"][0]["peak_bytes"] == peak
PY
