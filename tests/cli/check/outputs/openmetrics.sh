# OpenMetrics, read by prometheus_client.
made check_outputs write_check_outputs
if "$PYTHON" -c 'import prometheus_client' 2>/dev/null; then
  "$PYTHON" - <<'PY' || fail "the OpenMetrics text is not what its parser takes"
import json
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = {family.name: family for family in text_string_to_metric_families(open("out.txt.om").read())}
peak = sum(point["gb"] for point in json.load(open("small.json"))["pps"])
samples = {(s.labels["budget"], s.labels["device"]): s.value for s in families["heapprof_peak_bytes"].samples}
assert samples["render", "host"] == peak and len(samples) == 4, samples
assert any("evil<&>\"'" in budget for budget, device in samples)
assert families["heapprof_peak_bytes"].unit == "bytes"
limits = {(s.labels["device"], s.labels["metric"], s.labels["unit"]): s.value for s in families["heapprof_limit"].samples}
assert limits["host", "peak", "bytes"] == 1024 and limits["host", "temporary", "percent"] == 100
assert [s.value for s in families["heapprof_check_ok"].samples] == [0, 0, 0]
PY
else
  not_tried "OpenMetrics by prometheus_client, which is not installed"
fi
