# github-action-benchmark: names are keys over time, so each is there once a program.
made check_outputs write_check_outputs
"$PYTHON" - <<'PY' || fail "the file is not what github-action-benchmark reads"
import json
peak = sum(point["gb"] for point in json.load(open("small.json"))["pps"])
entries = json.load(open("out.gha"))
assert all(set(entry) >= {"name", "unit", "value"} and isinstance(entry["value"], int) for entry in entries)
assert len({entry["name"] for entry in entries}) == len(entries)
assert {"name": "render host peak", "unit": "bytes", "value": peak} in entries
PY
