# heapprof's own contracts hold; and each of them is broken where what it states is not so.
export LC_ALL=C.UTF-8 COLUMNS=120
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY
PATH=$(dirname "$HEAPPROF_BIN"):$PATH
have cc || skip "no C compiler"
cp "$SOURCE"/examples/contracts/* .
check() { "$HEAPPROF_BIN" check "$@"; }
verdicts() { jq -r '.checks[] | "\(.name) \(.outcome)"' out.json; }

expect_status 0 check --contracts contracts.toml --json out.json
expect_in out.txt "9 contracts hold"
expect_eq "contracts that hold" "$(verdicts | grep -c ' ok$')" 9
for profile in exit abort kill; do check_profile $profile.json; done
expect_eq "profiles that nobody asked for" "$(ls heapprof.check.* 2>/dev/null)" ""

# The same program, but with another number of blocks: the contracts that count see it, the others hold.
sed -i 's/kBlocks = 1000/kBlocks = 1001/' known.c
expect_status 1 check --contracts contracts.toml --json out.json
expect_in out.txt "2 of 9 contracts broken"
expect_eq "broken" "$(verdicts | grep -v ' ok$')" "totals-exact fail
kill-loses-nothing fail"
grep -q "^FAIL  totals-exact  host allocations  *1,001  expected 1,000  *+1  * known.c:[0-9]* take_block" out.txt || fail "the culprit is not named: $(cat out.txt)"
sed -i 's/kBlocks = 1001/kBlocks = 1000/' known.c

# With the agent in every program, absence is no longer so.
agent=$(find "$BUILD" -name libheapprof.so | head -1)
[ -n "$agent" ] || fail "where is the agent?"
expect_status 1 env LD_PRELOAD="$agent" "$HEAPPROF_BIN" check --contracts contracts.toml --name 'absent-costs*'
expect_in out.txt "absent-costs-nothing  end  exit 1  expected exit 0"

# A profile of an earlier run proves nothing: heapprof that cannot write a new one breaks the contract.
mkdir broken
printf '#!/bin/sh\nexit 137\n' >broken/heapprof
chmod +x broken/heapprof
expect_status 1 env PATH="$PWD/broken:$PATH" "$HEAPPROF_BIN" check --contracts contracts.toml --name kill-profile
expect_in out.txt "kill.json  there before, and not written  expected written"

# A kill that does not come is another end, and its numbers are not judged.
sed -i 's/raise(SIGKILL)/(void)0/' known.c
expect_status 1 check --contracts contracts.toml --json out.json
expect_eq "broken" "$(verdicts | grep -v ' ok$')" "kill-profile fail
kill-loses-nothing fail"
expect_eq "claims of a run that ended otherwise" "$(jq -c '[.checks[] | select(.name == "kill-loses-nothing").limits[] | [.fact, .found, .expected]]' out.json)" \
  '[["end","exit 0","killed by SIGKILL"]]'
