# A real Prometheus scrapes heapprof serve, with a token: it is up, its numbers are the program's, and promtool and
# prometheus_client have nothing to say against the text.
source "$SOURCE/tests/support/cli_checks.sh"
obeys_starts
at_end() { live_ends; [ -z "${prometheus:-}" ] || kill "$prometheus" 2>/dev/null || true; }
obeys open
obeys grow
echo 0123456789abcdef >token
serves --token-file token "$target"
gets 200 /metrics -H 'Authorization: Bearer 0123456789abcdef' -H 'Accept: application/openmetrics-text;version=1.0.0'
expect_in head.txt "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8"
expect_in body.txt 'scope="work"'
if "$PYTHON" -c 'import prometheus_client' 2>/dev/null; then
  "$PYTHON" - <<'PYTHON' || fail "prometheus_client refuses the text"
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
families = {f.name: f for f in parse(open("body.txt").read())}
assert families["heapprof_allocated_bytes"].type == "counter" and families["heapprof_allocated_bytes"].unit == "bytes"
assert families["heapprof_process"].type == "info"
host = [s for s in families["heapprof_live_bytes"].samples if s.labels["device"] == "host"]
assert host and host[0].value == 1000003 + 4096, host
PYTHON
else
  not_tried "OpenMetrics by prometheus_client, which is not installed"
fi
gets 200 /metrics -H 'Authorization: Bearer 0123456789abcdef'
if have promtool; then
  promtool check metrics <body.txt >lint.txt 2>&1 || fail "promtool: $(cat lint.txt)"
  expect_eq "what promtool says" "$(cat lint.txt)" ""
fi
have prometheus || skip "Prometheus is not installed (apt-get install prometheus)"
cat >prometheus.yml <<YML
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - job_name: heapprof
    static_configs: [{targets: ["${url#http://}"]}]
    authorization: {credentials_file: token}
  - job_name: without
    static_configs: [{targets: ["${url#http://}"]}]
YML
prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address=127.0.0.1:0 --log.format=json >prometheus.log 2>&1 &
prometheus=$!
port=
for _ in $(seq 100); do
  port=$(sed -n 's/.*"address":"127\.0\.0\.1:\([0-9]*\)".*/\1/p' prometheus.log | head -n 1)
  [ -z "$port" ] || [ "$port" = 0 ] || break
  sleep 0.2
done
[ -n "$port" ] && [ "$port" != 0 ] || port=$(ss -ltnpH 2>/dev/null | sed -n "s/.*127\.0\.0\.1:\([0-9]*\).*pid=$prometheus,.*/\1/p" | head -n 1)
[ -n "$port" ] || fail "Prometheus does not listen: $(tail -n 5 prometheus.log)"
ask() { curl -sS --get --data-urlencode "query=$1" "http://127.0.0.1:$port/api/v1/query" | jq -r '.data.result[] | .value[1]'; }
are_scraped() {
  [ "$(ask 'up{job="heapprof"}')" = 1 ] && [ -n "$(ask 'up{job="without"}')" ] && [ -n "$(ask heapprof_live_bytes)" ]
}
wait_for 60 "a scrape of each job" are_scraped
expect_eq "up without a token" "$(ask 'up{job="without"}')" 0
expect_eq "live bytes" "$(ask 'heapprof_live_bytes{device="host",job="heapprof"}')" $((1000003 + 4096))
expect_eq "the scope" "$(ask 'heapprof_scope_open{scope="work"}')" 1
expect_eq "the process" "$(ask "heapprof_process_info{pid=\"$target\",command=\"obeys\"}")" 1
obeys grow
has_more() { [ "$(ask 'heapprof_live_bytes{device="host"}')" = $((2000006 + 4096)) ]; }
wait_for 60 "live bytes after more" has_more
rate=$(ask 'rate(heapprof_allocated_bytes_total{device="host"}[1m]) > 0')
[ -n "$rate" ] || not_tried "a rate: two scrapes were not within reach"
kill $serve
wait $serve || true
echo end >&8
wait $run
