# Bencher's metric format: benchmark, measure, value between its bounds.
made check_outputs write_check_outputs
"$PYTHON" - <<'PY' || fail "the file is not Bencher's"
import json, re
peak = sum(point["gb"] for point in json.load(open("small.json"))["pps"])
bmf = json.load(open("out.bmf"))
assert len(bmf) == 2
for measures in bmf.values():
    for name, metric in measures.items():
        assert re.fullmatch("[a-z0-9:-]+", name), name
        assert metric["lower_value"] <= metric["value"] <= metric["upper_value"]
assert bmf["render"]["host-peak-bytes"]["value"] == peak
PY
