# Out of range by little: the words show by how much, to the byte, in every output.
cp "$TARGETS/leaky" "$TARGETS/exit_code" .
cp "$SOURCE/tests/cli/contracts/all.toml" .
sed -i 's/15 B ± 0 B/14 B ± 0 B/; s/995 ± 1 %/5 KiB ± 1 %/; s/6175 B ± 1 %/6000 B ± 1 %/; s/exit = 7$/exit = 8/' all.toml
all=(--summary out.md --junit out.xml --codequality out.cq.json --sarif out.sarif --json out.json --metrics out.om)
for id in kept sizes failure; do
  expect_status 1 check --contracts all.toml --name $id --annotations github "${all[@]}"
  expect_in out.txt "1 of 1 contract broken"
  cp out.txt $id.txt
  for kind in xml cq.json sarif json; do mv out.$kind $id.$kind; done
done
grep -q "size of size.txt  *15 B  expected 14 B" sizes.txt || fail "$(cat sizes.txt)"
expect_in sizes.txt "::error file=all.toml,line=13,title=heapprof sizes::size of size.txt 15 B, expected 14 B"
expect_in failure.txt "failure  end  exit 7  expected exit 8"
expect_not_in failure.txt "host peak"
expect_in kept.txt "leaky.cc:"
expect_status 0 check --contracts all.toml --name sizes --warn-only
expect_in out.txt "1 of 1 contract broken"
"$PYTHON" - <<'PY' || fail "an output is not as it should be"
import json
import xml.etree.ElementTree as tree
suite, = tree.parse("sizes.xml").getroot()
assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "0"), suite.attrib
assert [case.get("name") for case in suite] == ["size.txt", "size of size.txt", "number in size.txt"]
issue, other = json.load(open("sizes.cq.json"))
assert issue["check_name"] == "heapprof/contract" and issue["location"] == {"path": "all.toml", "lines": {"begin": 13}}, issue
assert issue["fingerprint"] != other["fingerprint"]
run, = json.load(open("sizes.sarif"))["runs"]
assert {result["ruleId"] for result in run["results"]} == {"heapprof/contract"}
assert "heapprof/contract" in [rule["id"] for rule in run["tool"]["driver"]["rules"]]
check, = json.load(open("sizes.json"))["checks"]
assert check["statement"].startswith("It writes a file") and check["outcome"] == "fail" and len(check["limits"]) == 3
assert check["limits"][1] == {"outcome": "fail", "fact": "size of size.txt", "found": "15 B", "expected": "14 B",
                              "sentence": "size of size.txt 15 B, expected 14 B"}, check["limits"][1]
PY
expect_in out.md "### heapprof: failure: broken"
expect_in out.md "A failure that is stated is judged"
