# heapprof check --contracts: what can stand in the file, the words of mistakes, exit codes, and the outputs for other tools.
export LC_ALL=C.UTF-8 COLUMNS=100
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY
cp "$TARGETS/leaky" "$TARGETS/exit_code" .
check() { "$HEAPPROF_BIN" check "$@"; }
contract() { printf 'version = 1\n[[contract]]\nid = "c"\nstatement = "It is so"\n%s\n' "$1" >c.toml; }

# ---- mistakes: file, line, and what would do ----
mistake() {
  contract "$1"
  expect_status 2 check --contracts c.toml
  expect_in err.txt "$2"
  expect_eq "output" "$(cat out.txt)" ""
}
mistake 'comand = ["./leaky"]' "c.toml, line 5: unknown key 'comand'; did you mean command? [HP144]"
mistake 'command = ["./leaky"]' "nothing can break 'c': set exit, file, or a limit [HP143]"
mistake 'exit = 0' "'c' has no command to run"
mistake "$(printf 'command = ["./leaky"]\nexit = 256')" "c.toml, line 6: exit takes a status from 0 to 255, or a signal such as \"SIGKILL\""
mistake "$(printf 'command = ["./leaky"]\nexit = "KILL"')" "or a signal such as"
mistake "$(printf 'command = ["./leaky"]\npeak = "512M"')" "c.toml, line 6: ambiguous"
mistake "$(printf 'command = ["./leaky"]\nprofiled = false\npeak = "5 MiB"')" "'c' has a limit, and is not profiled"
mistake "$(printf 'command = ["./leaky"]\nfile = { path = "a", size = "12 MiB" }')" "such as 12 GiB ± 2 %"
mistake "$(printf 'command = ["./leaky"]\nfile = { paht = "a" }')" "unknown key 'paht'"
mistake "$(printf 'command = ["./leaky"]\nfile = ["a", "a"]')" "the file 'a' is named twice"
mistake "$(printf 'command = ["./leaky"]\nexit = 0\n[[contract]]\nid = "c"\nstatement = "s"\ncommand = ["x"]\nexit = 0')" "the id 'c' stands in line 2 too"
printf 'version = 1\n' >none.toml
expect_status 2 check --contracts none.toml
expect_in err.txt "there is no [[contract]] in it"
expect_status 2 check --contracts missing.toml
expect_in err.txt "the contracts in missing.toml cannot be read: no such file or directory [HP180]"
contract "$(printf 'command = ["./leaky"]\nexit = 0')"
expect_status 2 check --contracts c.toml --name other
expect_in err.txt "no contract matches --name 'other', only c are there [HP181]"
for other in "--max-peak 1MiB" "--budget c.toml" "--baseline c.json" "--runs 2" "--update-budget" "--update-baseline" "-- ./leaky" "p.json"; do
  # shellcheck disable=SC2086
  expect_status 2 check --contracts c.toml $other
  expect_in err.txt "[HP182]"
done

# ---- verdicts ----
cat >all.toml <<'TOML'
version = 1
[[contract]]
id = "kept"
statement = "Its numbers are known"
command = ["./leaky"]
leaked = { host = { expect = "6175 B ± 1 %" } }
runs = 2
[[contract]]
id = "sizes"
statement = "It writes a file of a known size, with a known number in it"
command = ["sh", "-c", "printf 'took 1000 bytes' >size.txt"]
profiled = false
file = [{ path = "size.txt", size = "15 B ± 0 B", number = "995 ± 1 %" }]
[[contract]]
id = "fails"
statement = "A failure that nobody stated is none of memory"
command = ["./exit_code", "7"]
peak = "1 MiB"
[[contract]]
id = "failure"
statement = "A failure that is stated is judged"
command = ["./exit_code", "7"]
exit = 7
peak = "1 MiB"
[[contract]]
id = "absent"
statement = "A program that is not there proves nothing"
command = ["./no-such-program"]
profiled = false
exit = 127
TOML
expect_status 0 check --contracts all.toml --name kept
expect_status 0 check --contracts all.toml --name sizes
expect_in out.txt "size.txt written, size of size.txt 15 B,"
expect_status 4 check --contracts all.toml --name fails
expect_in err.txt "./exit_code failed: exit 7; its memory is not judged [HP152]"
expect_status 0 check --contracts all.toml --name failure
expect_status 3 check --contracts all.toml --name absent
expect_in err.txt "no such program: ./no-such-program [HP001]"
rm -f heapprof.check.*
expect_status 4 check --contracts all.toml
expect_in out.txt "2 of 5 contracts not judged"
expect_status 0 check --contracts all.toml --name kept -q
expect_eq "words of -q" "$(cat out.txt err.txt)" ""

# Out of range by little: the words show by how much, to the byte.
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

# ---- the program is left alone ----
# From the second program on too: no signal is blocked or ignored, profiled or not.
states() { sed -n 's/^\(Sig[BI][lg][kn]\):[\t ]*/\1 /p' "$1"; }
grep Sig /proc/self/status >outside.txt
printf 'version = 1\n' >signals.toml
for id in one two three four; do
  printf '[[contract]]\nid = "%s"\nstatement = "s"\ncommand = ["sh", "-c", "grep Sig /proc/self/status >%s.txt"]\nprofiled = %s\nfile = "%s.txt"\n' \
    $id $id "$([ $id = two ] || [ $id = four ] && echo false || echo true)" $id >>signals.toml
done
expect_status 0 check --contracts signals.toml
for id in one two three four; do expect_eq "signals of program $id" "$(states $id.txt)" "$(states outside.txt)"; done
# A signal that is sent to heapprof is handed on to the program.
cat >long.toml <<'TOML'
version = 1
[[contract]]
id = "long"
statement = "s"
command = ["sleep", "100"]
profiled = false
exit = 0
TOML
"$HEAPPROF_BIN" check --contracts long.toml >out.txt 2>err.txt &
ours=$!
for _ in $(seq 200); do pgrep -P $ours sleep >/dev/null && break; command sleep 0.05; done
kill -TERM $ours
status=0
wait $ours || status=$?
expect_eq "status" "$status" 1
expect_in out.txt "end  killed by SIGTERM  expected exit 0"

# ---- what is never softened or overlooked ----
# A run that ended otherwise breaks the contract, whichever it is of several.
cat >flaky.sh <<'SH'
n=$(($(cat runs 2>/dev/null || echo 0) + 1))
echo $n >runs
[ $n != 1 ] || kill -SEGV $$
SH
cat >flaky.toml <<'TOML'
version = 1
[[contract]]
id = "flaky"
statement = "It ends well each time"
command = ["sh", "flaky.sh"]
exit = 0
runs = 3
TOML
expect_status 1 check --contracts flaky.toml
expect_in out.txt "end  killed by SIGSEGV"
# --warn-only is about what a program takes: one that crashes fails all the same.
rm runs
expect_status 4 check --contracts flaky.toml --warn-only
printf 'version = 1\n[[contract]]\nid = "crash"\nstatement = "s"\ncommand = ["sh", "-c", "kill -SEGV $$"]\nprofiled = false\nexit = 0\n' >crash.toml
expect_status 4 check --contracts crash.toml --warn-only
for flag in "--tolerance 3%" "--slack 1KiB" "--processes each"; do
  # shellcheck disable=SC2086
  expect_status 2 check --contracts flaky.toml $flag
  expect_in err.txt "[HP182]"
done
cp flaky.toml kept.toml
expect_status 2 check --contracts flaky.toml --json ./flaky.toml
cmp flaky.toml kept.toml || fail "an output was written over the contracts"
# Those that a Ctrl-C leaves over are named.
sed 's/"long"/"second"/' long.toml | tail -n +2 >>long.toml
"$PYTHON" -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
  "$HEAPPROF_BIN" check --contracts long.toml --json long.json >out.txt 2>err.txt &  # a shell's background ignores it
ours=$!
for _ in $(seq 200); do pgrep -P $ours sleep >/dev/null && break; command sleep 0.05; done
kill -INT $ours
status=0
wait $ours || status=$?
expect_eq "status after Ctrl-C" "$status" 3
expect_eq "verdicts after Ctrl-C" "$(jq -r '[.checks[] | .name + " " + .outcome] | join(", ")' long.json)" "long fail, second not judged"
