# Every output has a scope's verdict, in the words of the others.
expect_status 0 "$HEAPPROF_BIN" run -q -o p.json "$TARGETS/cuda_decode" 17
cat >h.toml <<'TOML'
version = 1
[[budget]]
name = "server"
message = "ask first"
warn_at = "90 %"
  [[budget.scope]]
  path = "decode"
  count = 5
  peak = "1 MiB"
  calls_per_run = { "synchronize stream" = "3.5" }
TOML
expect_status 1 check --budget h.toml --name server --annotations github --summary s.md --junit j.xml --codequality q.json --metrics m.txt \
  --sarif s.json --json j.json p.json
expect_in out.txt "::error file=h.toml,line=10,title=heapprof server::decode: synchronize stream per run 17, limit 3.5. ask first"
expect_in out.txt "::warning file=h.toml,line=8,title=heapprof server::decode: count 5, limit 5"
expect_in s.md "| fail | decode: synchronize stream per run | 17 | limit 3.5 | +13.5 |  |"
expect_in m.txt 'heapprof_scope{budget="server",device="",metric="calls_per_run",scope="decode",call="synchronize stream",unit="count"} 17.00'
expect_in m.txt 'heapprof_limit{budget="server",device="",metric="calls_per_run",scope="decode",call="synchronize stream",site="",unit="count"} 3.50'
expect_in m.txt 'heapprof_limit{budget="server",device="host",metric="peak",scope="decode",site="",unit="bytes"} 1048576'
"$PYTHON" - <<'PY' || fail "an output is not as it should be"
import json
import xml.etree.ElementTree as tree
suite, = tree.parse("j.xml").getroot()
assert (suite.get("tests"), suite.get("failures")) == ("3", "1"), suite.attrib
assert [case.get("name") for case in suite] == ["decode: count", "decode: peak inside", "decode: synchronize stream per run"]
issues = json.load(open("q.json"))
assert [issue["check_name"] for issue in issues] == ["heapprof/scope"] * 2 and len({issue["fingerprint"] for issue in issues}) == 2
run, = json.load(open("s.json"))["runs"]
assert "heapprof/scope" in [rule["id"] for rule in run["tool"]["driver"]["rules"]]
assert [(result["ruleId"], result["level"]) for result in run["results"]] == [("heapprof/scope", "warning"), ("heapprof/scope", "error")]
count, peak, calls = json.load(open("j.json"))["checks"][0]["limits"]
scope = [{"name": "decode"}]
assert count == {"outcome": "warning", "scope": scope, "metric": "count", "unit": "count", "value": 5, "limit": 5,
                 "sentence": "decode: count 5, limit 5"}, count
assert peak["device"] == "host" and peak["unit"] == "bytes" and peak["outcome"] == "ok", peak
assert calls == {"outcome": "fail", "scope": scope, "call": "synchronize stream", "metric": "calls_per_run", "unit": "hundredths",
                 "value": 1700, "limit": 350, "sentence": "decode: synchronize stream per run 17, limit 3.5"}, calls
PY
