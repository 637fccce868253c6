# SARIF 2.1.0: what the schema requires of the parts that are used; held against the model that is generated from it.
made check_outputs write_check_outputs
"$PYTHON" - <<'PY' || fail "the SARIF is not what its format asks for"
import json, re
sarif = json.load(open("out.sarif"))
assert sarif["version"] == "2.1.0" and sarif["$schema"].endswith("sarif-2.1.0.json")
run, = sarif["runs"]
rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
for rule in run["tool"]["driver"]["rules"]:
    assert all(rule[key]["text"] for key in ("shortDescription", "fullDescription", "help"))
assert len(rules) == len(set(rules)) and run["tool"]["driver"]["name"] == "heapprof"
assert len(run["results"]) == 7
for result in run["results"]:
    assert result["ruleId"] in rules and result["level"] in ("error", "warning", "note", "none") and result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert re.fullmatch(r"[A-Za-z0-9._~/+@%-]+", place["artifactLocation"]["uri"]) and place["region"]["startLine"] >= 1
    region = place["region"]
    assert region["startColumn"] == 1 and region["endLine"] == region["startLine"]
    assert re.fullmatch("[0-9a-f]{32}:1", result["partialFingerprints"]["primaryLocationLineHash"])
assert len({result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]}) == 7
PY

# The model sees what is wrong.
if "$PYTHON" -c 'import sarif_om' 2>/dev/null; then
  "$PYTHON" "$SOURCE/tests/support/check_sarif.py" out.sarif || fail "SARIF is not what its schema has"
  for change in 'del(.runs[0].results[0].message)' '.runs[0].results[0].rulId = "x"' 'del(.runs[0].tool.driver.name)'; do
    jq "$change" out.sarif >wrong.sarif
    ! "$PYTHON" "$SOURCE/tests/support/check_sarif.py" wrong.sarif 2>/dev/null || fail "$change is not seen"
  done
else
  not_tried "SARIF by python3-sarif-python-om, which is not installed"
fi
