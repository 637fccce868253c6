# Which scopes a path means: a glob may mean several, each of which keeps the limit; odd names are written as shown.
expect_status 0 "$HEAPPROF_BIN" run -q -o p.json "$TARGETS/scope_work" 5 1000
named() { jq -c --argjson names "$2" '.heapprof.scopes.scopes[0].name = $names[0] | .heapprof.scopes.scopes[1].name = $names[1]' p.json >"$1"; }
judged() {  # STATUS PROFILE PATH LIMIT
  printf 'version = 1\n[[budget]]\nname = "x"\n  [[budget.scope]]\n  path = %s\n  %s\n' "$3" "$4" >h.toml
  expect_status "$1" check --budget h.toml --name x "$2"
  tr -s ' ' <out.txt >words.txt
}
judged 1 p.json '"*"' 'count = 1'
says words.txt <<'TEXT'
ok x load: count 1 limit 1 100 %
FAIL x load > json: parse: count 5 limit 1 +4
1 of 2 limits exceeded · profile p.json · heapprof report p.json
TEXT
judged 0 p.json '"load"' 'count = 1'
expect_in words.txt "1 limit kept"
judged 1 p.json '"* > json: *"' 'count = 1'
expect_in words.txt "1 of 1 limit exceeded"
judged 0 p.json '"load > json: pars?"' 'count = 5'

# Names with the sign between scopes, with signs of globs, with none, with controls, and with what outputs escape.
named odd.json '["a > b", "c/d \"*[x]\" <&> ✓"]'
judged 1 odd.json '"a > b > json: c/d \"*[x]\" <&> ✓"' 'count = 4'
expect_in words.txt 'a > b > json: c/d "*[x]" <&> ✓: count 5 limit 4'
"$HEAPPROF_BIN" check --budget h.toml --name x --junit j.xml --sarif s.json --metrics m.txt --json j.json odd.json >/dev/null || true
"$PYTHON" - <<'PY' || fail "a name with odd characters is not what it was"
import json, xml.etree.ElementTree as tree
name = 'c/d "*[x]" <&> ✓'
case, = tree.parse("j.xml").getroot().iter("testcase")
assert case.get("name") == "a > b > json: " + name + ": count", case.attrib
assert name in json.load(open("s.json"))["runs"][0]["results"][0]["message"]["text"]
limit, = json.load(open("j.json"))["checks"][0]["limits"]
assert limit["scope"] == [{"name": "a > b"}, {"category": "json", "name": name}], limit
assert 'scope="a > b > json: c/d \\"*[x]\\" <&> ✓"' in open("m.txt").read()
PY
named none.json '["", "\u001b[31m"]'
judged 0 none.json '"[no name]"' 'count = 1'
judged 1 none.json '"[no name] > json: \\x1b[31m"' 'count = 4'
expect_not_in out.txt $'\e'
judged 1 none.json '"[no name] > json: \u001b[31m"' 'count = 4'
expect_not_in out.txt $'\e'

# Scopes that read alike are judged each for itself.
jq -c '.heapprof.scopes.scopes |= [.[0], .[1], (.[1] | .parent = 0 | .category = "" | .name = "load > json: parse" | .begun_count = 9 | .ended_count = 9)]' \
  p.json >alike.json
judged 1 alike.json '"load > json: parse"' 'count = 5'
expect_in words.txt "count 5 limit 5"
expect_in words.txt "count 9 limit 5"
# A scope that stands twice in a file is one.
jq -c '.heapprof.scopes.scopes |= . + [.[1]]' p.json >twice.json
judged 1 twice.json '"load > json: parse"' 'count = 9'
expect_in words.txt "count 10 limit 9"

# What must not appear is a limit of none, which holds without the scope.
judged 0 p.json '"* > json: parse twice"' 'count = 0'
expect_in words.txt "ok x * > json: parse twice: count 0 limit 0"
judged 1 p.json '"* > json: parse"' 'count = 0'
