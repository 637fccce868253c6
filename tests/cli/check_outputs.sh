# heapprof check: what it writes for other tools is read back by parsers of those formats, hostile names and all.
export LC_ALL=C.UTF-8 COLUMNS=100
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY
cp "$SOURCE/tests/golden/profile/small.json" small.json
"$PYTHON" - <<'PY'
import json
profile = json.load(open("small.json"))
bad = "evil<&>\"'|`*_@all %0A::error::,:]]>"
frames = [i for i, frame in enumerate(profile["ftbl"]) if "build_index" in frame]
for i in frames:
    profile["ftbl"][i] = profile["ftbl"][i].split(":")[0] + ": " + bad + "(int) (src/a b,c:d%.cc:7)"
profile["heapprof"]["run"]["command"][0] = "./" + bad.replace("/", "")
json.dump(profile, open("hostile.json", "w"))
failed = json.load(open("small.json"))
failed["heapprof"]["run"]["end"] = "exited"
failed["heapprof"]["run"]["status"] = 3
json.dump(failed, open("failed.json", "w"))
PY
all=(--summary out.md --junit out.xml --codequality out.cq.json --metrics out.txt.om --sarif out.sarif --json out.json --bmf out.bmf --gha-benchmark out.gha)
limits=(--max-peak 1KiB --max-leaked 1MiB --max-peak cuda:0=1MiB --max-allocations 1 --max-temporary 100%)
expect_status 4 "$HEAPPROF_BIN" check "${limits[@]}" "${all[@]}" --annotations github small.json hostile.json failed.json
cp out.txt said.txt
for file in out.*; do [ -s "$file" ] || fail "$file is empty"; done

"$PYTHON" - <<'PY' || fail "an output is not what its format asks for"
import json, re, sys
import xml.etree.ElementTree as tree

# JUnit: the counts are those of its cases; a failure has a type and a message.
suites = tree.parse("out.xml").getroot()
assert suites.tag == "testsuites"
totals = {"tests": 0, "failures": 0, "errors": 0}
for suite in suites:
    assert suite.tag == "testsuite" and suite.get("name") and float(suite.get("time")) >= 0
    cases = list(suite)
    assert all(case.tag == "testcase" and case.get("classname") and case.get("name") for case in cases)
    names = [case.get("name") for case in cases]
    assert len(names) == len(set(names)), names
    counts = {"tests": len(cases), "failures": len(suite.findall("testcase/failure")), "errors": len(suite.findall("testcase/error"))}
    for key, value in counts.items():
        assert int(suite.get(key)) == value, (key, value)
        totals[key] += value
    for wrong in suite.findall("testcase/failure") + suite.findall("testcase/error"):
        assert wrong.get("type") and wrong.get("message") and wrong.text
assert totals == {key: int(suites.get(key)) for key in totals} and totals["errors"] == 1 and totals["failures"] == 4, totals
assert "evil<&>\"'|" in open("out.xml").read().replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&apos;", "'").replace("&amp;", "&")

# GitLab's Code Quality: fingerprints differ, paths are in the project, lines count from 1.
issues = json.load(open("out.cq.json"))
assert len(issues) == 5, len(issues)
assert len({issue["fingerprint"] for issue in issues}) == len(issues)
for issue in issues:
    assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
    assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
    assert re.fullmatch("[0-9a-f]{32}", issue["fingerprint"])
    assert not issue["location"]["path"].startswith(("/", "./")) and issue["location"]["lines"]["begin"] >= 1

# SARIF 2.1.0: what the schema requires of the parts that are used.
sarif = json.load(open("out.sarif"))
assert sarif["version"] == "2.1.0" and sarif["$schema"].endswith("sarif-2.1.0.json")
run, = sarif["runs"]
rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
assert len(rules) == len(set(rules)) and run["tool"]["driver"]["name"] == "heapprof"
assert len(run["results"]) == 5
for result in run["results"]:
    assert result["ruleId"] in rules and result["level"] in ("error", "warning", "note", "none") and result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert re.fullmatch(r"[A-Za-z0-9._~/+@%-]+", place["artifactLocation"]["uri"]) and place["region"]["startLine"] >= 1
    assert all(isinstance(value, str) for value in result["partialFingerprints"].values())

# Our JSON: integers, and what the terminal said.
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

# Bencher's metric format: benchmark, measure, value between its bounds.
bmf = json.load(open("out.bmf"))
assert len(bmf) == 2
for measures in bmf.values():
    for name, metric in measures.items():
        assert re.fullmatch("[a-z0-9:-]+", name), name
        assert metric["lower_value"] <= metric["value"] <= metric["upper_value"]
assert bmf["render"]["host-peak-bytes"]["value"] == peak

# github-action-benchmark: names are keys over time, so each is there once a program.
entries = json.load(open("out.gha"))
assert all(set(entry) >= {"name", "unit", "value"} and isinstance(entry["value"], int) for entry in entries)
assert len({entry["name"] for entry in entries}) == len(entries)
assert {"name": "render host peak", "unit": "bytes", "value": peak} in entries

# Markdown: no cell has a bar of its own, no name a mention or a tag.
rows = [line for line in open("out.md") if line.startswith("|")]
assert len(rows) == 2 * (2 + 5) and all(len(re.findall(r"(?<!\\)\|", row)) == 7 for row in rows), rows
assert "@all" not in open("out.md").read() and "<&" not in open("out.md").read()

# Annotations: one a line, escaped; a file only where it lies in the project.
lines = [line.rstrip("\n") for line in open("said.txt") if line.startswith("::")]
assert len(lines) == 5 and not any(line.startswith("::error::") for line in lines), lines
for line in lines:
    head, message = re.fullmatch(r"::error ([^:]*)::(.*)", line).groups()
    keys = [part.split("=", 1)[0] for part in head.split(",")]
    assert set(keys) <= {"file", "line", "title"} and "title" in keys, head
    assert re.fullmatch(r"(?:[^%]|%25|%0A|%0D)*", message), message
assert any("file=src/a b%2Cc%3Ad%25.cc,line=7," in line for line in lines), lines
PY

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

# On GitHub by itself: annotations, and the step's summary is added to. No more than ten of a kind.
export GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$PWD/step.md
echo "from another step" >step.md
many=()
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do many+=(small.json); done
expect_status 1 "$HEAPPROF_BIN" check --max-peak 1KiB "${many[@]}"
expect_eq "annotations" "$(grep -c '^::error ' out.txt)" 10
expect_in out.txt "::error title=heapprof::and 3 more; see the step's summary"
expect_eq "the other step's words" "$(head -1 step.md)" "from another step"
expect_eq "tables" "$(grep -c '^### heapprof: render[ 0-9]*: 1 of 1 limit exceeded' step.md)" 12
expect_status 0 "$HEAPPROF_BIN" check --max-peak 1KiB --warn-only small.json
expect_in out.txt "::warning title=heapprof render::host peak"
expect_status 1 "$HEAPPROF_BIN" check --max-peak 1KiB --annotations none small.json
expect_not_in out.txt "::error"

# Asked for twice, it is added to once; asked for without annotations, it is added to as well.
for annotations in github none; do
  echo "from another step" >step.md
  expect_status 1 "$HEAPPROF_BIN" check --max-peak 1KiB --annotations $annotations --summary ./step.md small.json
  expect_eq "the other step's words, with annotations $annotations" "$(head -1 step.md)" "from another step"
  expect_eq "tables, with annotations $annotations" "$(grep -c '^### heapprof: render' step.md)" 1
done

# A table stays short enough for a comment of 64 KiB, and says what it left out.
for i in $(seq 1 600); do printf '[[budget.site]]\nmatch = "build_index%s"\nallocations = 0\n' "$(printf '%*s' "$i" '' | tr ' ' '*')"; done >sites.txt
{ printf 'version = 1\n[[budget]]\nname = "many"\n'; cat sites.txt; } >many.toml
expect_status 1 "$HEAPPROF_BIN" check --budget many.toml --name many --annotations none -q --summary many.md small.json
[ "$(wc -c <many.md)" -lt 65536 ] || fail "$(wc -c <many.md) bytes of Markdown"
grep -qE '^… and [0-9]+ more$' many.md || fail "it does not say what was left out"

# SARIF, held against the model that is generated from its schema; and the model sees what is wrong.
if "$PYTHON" -c 'import sarif_om' 2>/dev/null; then
  "$PYTHON" "$SOURCE/tests/support/check_sarif.py" out.sarif || fail "SARIF is not what its schema has"
  for change in 'del(.runs[0].results[0].message)' '.runs[0].results[0].rulId = "x"' 'del(.runs[0].tool.driver.name)'; do
    jq "$change" out.sarif >wrong.sarif
    ! "$PYTHON" "$SOURCE/tests/support/check_sarif.py" wrong.sarif 2>/dev/null || fail "$change is not seen"
  done
else
  not_tried "SARIF by python3-sarif-python-om, which is not installed"
fi
