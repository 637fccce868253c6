# heapprof check when something is wrong with one of several: the others are judged, all outputs are written, the worst code counts.
export LC_ALL=C.UTF-8 COLUMNS=100
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY
cp "$TARGETS/leaky" "$TARGETS/exit_code" .
check() { "$HEAPPROF_BIN" check "$@"; }
outcomes() { jq -r '.checks[] | .name + ": " + .outcome' "$1" | paste -sd ';'; }
expect_status 0 check --max-peak 1MiB -o p.json -- ./leaky

# A profile that cannot be read, one without a budget, one with a mistake in its budget.
echo '{}' >broken.json
expect_status 3 check --max-peak 1MiB --json x.json --junit x.xml broken.json p.json missing.json
expect_eq "verdicts" "$(outcomes x.json)" "broken.json: not judged;leaky: ok;missing.json: not judged"
expect_in out.txt "FAIL  missing.json  missing.json cannot be read: no such file or directory; its memory is not judged"
expect_in out.txt "1 limit kept · profile p.json"
expect_in x.xml 'tests="3" failures="0" errors="2"'
expect_eq "said once" "$(grep -c 'HP060' err.txt)" 1
cat >two.toml <<'TOML'
version = 1
[[budget]]
name = "first"
command = ["./leaky"]
peak = { "cuda:0" = "1 MiB" }
[[budget]]
name = "second"
command = ["./leaky", "x"]
leaked = "1 MiB"
[[budget]]
name = "third"
command = ["./no-such-program"]
peak = "1 MiB"
TOML
expect_status 3 check --budget two.toml --json x.json --history ci.jsonl
expect_eq "verdicts" "$(outcomes x.json)" "first: not judged;second: ok;third: not judged"
expect_in err.txt "two.toml, line 5: the program used no device 'cuda:0', only host [HP145]"
expect_eq "history" "$(jq -r .name ci.jsonl)" second
expect_status 2 check --budget two.toml --name first --json x.json
expect_eq "verdicts" "$(outcomes x.json)" "first: not judged"

# An output that cannot be written does not keep the others from it. (A folder that comes while the program runs.)

mkdir late
expect_status 2 check --max-peak 1MiB --junit late/x.xml --json x.json -- sh -c 'rmdir late; :'
expect_in err.txt "late/x.xml cannot be written"
expect_eq "the other output" "$(outcomes x.json)" "sh: ok"

# Two outputs in one file, by whatever name; what is read is not written over.
expect_status 2 check --max-peak 1MiB --junit x.out --json ./x.out p.json
cat >want.txt <<'TEXT'
heapprof: error: --junit and --json both name ./x.out [HP165]
  fix:     give each a file of its own
  instead: leave one of them out
TEXT
cmp -s want.txt err.txt || fail "other words: $(cat err.txt)"
ln -s p.json link.json
for pair in "--sarif p.json" "--json link.json" "--history p.json"; do
  expect_status 2 check --max-peak 1MiB $pair p.json
  expect_in err.txt "FILE and ${pair%% *} both name ${pair##* } [HP165]"
done
expect_status 2 check --budget two.toml --json two.toml p.json
expect_status 0 check --max-peak 1MiB --junit /dev/null --json /dev/null p.json p.json  # a device takes both; a profile may come twice

# Names that differ only in what no file name can have, have profiles and baselines of their own.
printf 'version = 1\n[defaults]\nleaked = "0 B"\n' >names.toml
for name in "a b" "a_b"; do printf '[[budget]]\nname = "%s"\ncommand = ["./leaky"]\n' "$name" >>names.toml; done
expect_status 1 check --budget names.toml
expect_eq "kept" "$(ls heapprof.check.a_b*.json | wc -l) $(ls heapprof.check.a_b.json)" "2 heapprof.check.a_b.json"
expect_status 1 check --budget names.toml --baseline base/ --update-baseline
expect_eq "baselines" "$(ls base | wc -l)" 2

# Annotations and places: of the limit, where the culprit's source is not in the project; as seen from the project's folder.
mkdir -p project/.git project/ci
cp p.json names.toml project/ci
(cd project/ci && expect_status 1 check --budget names.toml --name a_b --annotations github --sarif s.sarif --codequality q.json p.json && cp out.txt s.sarif q.json ../..)
expect_in out.txt "::error file=ci/names.toml,line=3,title=heapprof a_b::host leaked"
expect_eq "SARIF" "$(jq -r '.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri' s.sarif)" ci/names.toml
expect_eq "Code Quality" "$(jq -r '.[0].location.path' q.json)" ci/names.toml
# Nor over a baseline.
cp p.json base.json
expect_status 2 check --baseline base.json --json base.json p.json
cmp base.json p.json || fail "an output was written over the baseline"
expect_status 0 check --baseline p.json p.json

# A limit that was raised is kept: so says the history, too.
printf 'version = 1\n[[budget]]\nname = "raised"\ncommand = ["./leaky"]\nleaked = "1 B"\n' >raised.toml
expect_status 0 check --budget raised.toml --update-budget --history raised.jsonl
expect_eq "in the history" "$(jq -c '[.name, .ok]' raised.jsonl)" '["raised",true]'

# Addresses that a program reserves are no memory: growth of them is none.
cat >reserve.c <<'C'
#include <stdlib.h>
#include <sys/mman.h>
int main(int count, char** words) {
  (void)words;
  return mmap(0, (size_t)count << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}
C
gcc -O1 reserve.c -o reserve
expect_status 0 check --max-peak 1MiB -o reserve.json -- ./reserve
expect_eq "reserved" "$(jq '.heapprof.devices[] | select(.name == "mapped:reserved") | .totals.peak_bytes' reserve.json)" $((1 << 30))
expect_status 0 check --baseline reserve.json -- ./reserve twice as much

# A program that heapprof cannot see is no less there than others.
gcc -static -O1 reserve.c -o unseen
expect_status 0 check --max-peak 1MiB --json x.json -- sh -c './unseen; ./unseen; :'
expect_eq "not judged" "$(jq '.checks[0].processes_not_judged_count' x.json)" 2
expect_status 0 check --max-peak 1MiB --processes each --json x.json -- sh -c './unseen; ./unseen; :'
expect_eq "not judged" "$(jq '.checks[0].processes_not_judged_count' x.json)" 2
