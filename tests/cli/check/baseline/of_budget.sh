# A folder of baselines has one for each budget.
with_leaky_profile p.json
cp "$SOURCE/tests/cli/check/budget/leaks.toml" heapprof.toml
mkdir base && cp p.json base/leaks.json
expect_status 1 check --budget heapprof.toml --name leaks --baseline base p.json
expect_in out.txt "baseline 7.24 KiB"
