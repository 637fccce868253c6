# heapprof check --baseline FILE.jsonl: the median of the runs of the same command in a history.
export LC_ALL=C.UTF-8 COLUMNS=100
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY
cat >take.cc <<'CODE'
#include <cstdlib>
__attribute__((noinline)) void take(int blocks) {
  for (int i = 0; i < blocks; ++i) {
    char* volatile block = static_cast<char*>(std::malloc(1000));
    block[0] = 1;
  }
}
int main() { take(std::atoi(std::getenv("BLOCKS"))); }
CODE
g++ -g -O1 -o take take.cc
check() { "$HEAPPROF_BIN" check --no-default-suppressions "$@"; }
export BLOCKS=100

# No run yet: an error, but where this check writes the history a warning, and its run is the first.
expect_status 2 check --baseline ci.jsonl -- ./take
expect_in err.txt "ci.jsonl has no run of ./take to compare with [HP183]"
expect_eq "the program did not run" "$(ls *.json 2>/dev/null)" ""
expect_status 0 check --baseline ci.jsonl --history ./ci.jsonl -- ./take
expect_in err.txt "ci.jsonl has no run of ./take yet: its growth is not judged this time [HP185]"
for BLOCKS in 102 98 100 500; do expect_status 0 "$HEAPPROF_BIN" check --no-default-suppressions --max-peak 1GiB --history ci.jsonl -q -- ./take; done
expect_eq "peaks" "$(jq .peak_bytes ci.jsonl | tr '\n' ' ')" "100000 102000 98000 100000 500000 "

# 100000 is the median, and the run of 500000, which nobody complained of, does not move it.
BLOCKS=102
expect_status 0 check --baseline ci.jsonl --tolerance 3% --history ci.jsonl -- ./take
expect_in out.txt "baseline 97.7 KiB"
expect_in out.txt "4 limits kept · baseline: median of 5 runs"
BLOCKS=110
for again in 1 2 3 4 5 6 7 8 9; do  # what is wrong does not become usual
  expect_status 1 check --baseline ci.jsonl --history ci.jsonl --json out.json -- ./take
done
grep -q "^FAIL  take  host peak .*baseline 98.6 KiB  +8.79 KiB  +8.9 %  .*take.cc:[0-9]* take" out.txt || fail "$(cat out.txt)"
expect_eq "for scripts" "$(jq -c '.checks[0] | [.baseline, .baseline_runs_count, .limits[0].baseline]' out.json)" '["ci.jsonl",6,101000]'

# In a budget, which may have another name for the command; a site is judged by its own limit alone.
cat >heapprof.toml <<'TOML'
version = 1
[[budget]]
name = "blocks"
command = ["./take"]
baseline = "ci.jsonl"
tolerance = "3 %"
  [[budget.site]]
  match = "take"
  peak = "1 MiB"
TOML
expect_status 1 check --budget heapprof.toml
expect_in out.txt "FAIL  blocks  host peak"
grep -qE "^ok    blocks  take peak +107 KiB  limit 1.00 MiB +10 %$" out.txt || fail "$(cat out.txt)"
BLOCKS=100
expect_status 0 check --budget heapprof.toml
rm -f heapprof.check.*

# Other commands, devices that are not there, lines that are no records.
expect_status 2 check --baseline ci.jsonl -- ./take more
expect_in err.txt "ci.jsonl has no run of ./take more to compare with"
echo '{"version":1,"name":"take","comm' >>ci.jsonl
expect_status 0 check --baseline ci.jsonl -- ./take
expect_in err.txt "ci.jsonl line 16 is left out"
expect_status 2 check --baseline ci.jsonl --update-baseline -- ./take
expect_in err.txt "--update-baseline makes a profile the baseline, and ci.jsonl is a history [HP184]"
expect_status 0 "$HEAPPROF_BIN" run -q -o p.json -- ./take
expect_status 0 check --baseline ci.jsonl p.json
BLOCKS=120
expect_status 0 "$HEAPPROF_BIN" run -q -o p.json -- ./take
expect_status 1 check --baseline ci.jsonl p.json
echo rubbish >bad.jsonl
expect_status 2 check --baseline bad.jsonl -- ./take
