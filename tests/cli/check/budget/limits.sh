# A file of budgets: limits of devices, of a site, a range, what is near its limit; every budget is run.
cp "$TARGETS/leaky" .
cp "$TARGETS/exit_code" .
cp "$SOURCE/tests/cli/check/budget/leaks.toml" heapprof.toml
expect_status 1 check --budget heapprof.toml
expect_in out.txt "warn  leaks  host peak"
expect_in out.txt "ok    leaks  host allocations              9  expected 9"
expect_in out.txt "ok    leaks  host live at exit      6.03 KiB  limit 1.00 MiB"
expect_in out.txt "FAIL  leaks  leaky.cc live at exit  6.03 KiB  limit 0 B"
expect_in out.txt "ask before raising this"
expect_in out.txt "ok  quiet  host peak"
