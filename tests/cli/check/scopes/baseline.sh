# A scope does not grow over the baseline: those that --scope or a budget without a limit names, in all their numbers.
record() { expect_status 0 "$HEAPPROF_BIN" run -q -o "$1.json" "$TARGETS/cuda_decode" "${@:2}"; }
record once 1
record often 17
record longer 1 more
compared() { expect_status "$1" check --baseline "$2.json" --slack 1MiB --tolerance "$3" --scope "$4" "$5.json"; tr -s ' ' <out.txt >words.txt; }

compared 1 once 1% '*' often
expect_in words.txt "FAIL cuda_decode decode: synchronize stream per run 17 baseline 1 +16 +1,600 %"
expect_in words.txt "ok cuda_decode decode: kernel launches per run 1 baseline 1 ±0"
compared 0 often 1% decode once   # less is no growth
compared 0 once 1% decode once
expect_in words.txt "ok cuda_decode decode: synchronize stream per run 1 baseline 1 ±0"
# How often it runs is a number of its own, and has no slack; what each run takes is the same.
compared 1 once 1% decode longer
expect_in words.txt "FAIL cuda_decode decode: count 6 baseline 5 +1 +20.0 %"
expect_in words.txt "ok cuda_decode decode: synchronize stream per run 1 baseline 1 ±0"
compared 0 once 25% decode longer
# Without being named scopes are not compared.
expect_status 0 check --baseline once.json --slack 1MiB --tolerance 25% longer.json
expect_not_in out.txt decode:

# A scope of the budget that has limits is compared in those alone.
cat >h.toml <<'TOML'
version = 1
[[budget]]
name = "server"
baseline = "once.json"
slack = "1 MiB"
tolerance = "25 %"
  [[budget.scope]]
  path = "decode"
  kernel_launches_per_run = 1
TOML
expect_status 0 check --budget h.toml --name server --max-allocations 1000 --tolerance 2000% often.json
expect_in out.txt "decode: kernel launches per run"
expect_not_in out.txt synchronize
sed -i '/kernel_launches/d' h.toml
expect_status 1 check --budget h.toml --name server often.json
tr -s ' ' <out.txt >words.txt
expect_in words.txt "FAIL server decode: synchronize stream per run 17 baseline 1"

# A scope that the baseline has not is growth from nothing; one of which a part is gone is compared with nothing.
jq -c '.heapprof.scopes.scopes[0].name = "load"' once.json >other.json
compared 1 other 1% decode once
expect_in words.txt "FAIL cuda_decode decode: count 5 baseline 0 +5"
jq -c '.heapprof.scopes.scopes[0].calls = []' once.json >quiet.json
compared 0 once 1% decode quiet
expect_in words.txt "ok cuda_decode decode: synchronize stream per run 0 baseline 1 gone"
# The medians of several runs are compared.
expect_status 1 check --baseline once.json --slack 1MiB --tolerance 2000% --scope decode --runs 3 -- "$TARGETS/cuda_decode" 30
tr -s ' ' <out.txt >words.txt
expect_in words.txt "FAIL cuda_decode decode: synchronize stream per run 30 baseline 1"
expect_in words.txt "median of 3 runs"
