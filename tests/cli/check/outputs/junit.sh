# JUnit: the counts are those of its cases; a failure has a type and a message; names are escaped.
made check_outputs write_check_outputs
"$PYTHON" - <<'PY' || fail "the JUnit file is not what its format asks for"
import xml.etree.ElementTree as tree
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
PY
