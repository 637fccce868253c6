# GitLab's Code Quality: fingerprints differ, paths are in the project, lines count from 1.
made check_outputs write_check_outputs
"$PYTHON" - <<'PY' || fail "the Code Quality file is not what its format asks for"
import json, re
issues = json.load(open("out.cq.json"))
assert len(issues) == 7, len(issues)
assert len({issue["fingerprint"] for issue in issues}) == len(issues)
for issue in issues:
    assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
    assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
    assert re.fullmatch("[0-9a-f]{32}", issue["fingerprint"])
    assert not issue["location"]["path"].startswith(("/", "./")) and issue["location"]["lines"]["begin"] >= 1
PY
