# Limits that are exceeded: by how much, by whose allocation, exit status 1, and the profile is kept.
cp "$TARGETS/leaky" .
expect_status 1 check --max-peak 1MiB --max-leaked host=0B --max-allocations 8 --max-temporary 0% -- ./leaky
leaking=$(line_of "$SOURCE/tests/targets/leaky.cc" 'malloc(')
expect_in out.txt "ok    leaky  host peak          7.24 KiB  limit 1.00 MiB  1 %"
expect_in out.txt "FAIL  leaky  host live at exit  6.03 KiB  limit 0 B       +6.03 KiB"
expect_in out.txt "FAIL  leaky  host allocations          9  limit 8         +1"
expect_in out.txt " of 4 limits exceeded · profile heapprof.check.leaky.json · heapprof report heapprof.check.leaky.json"
grep -q "FAIL  leaky  host live at exit .*leaky.cc:[0-9]* [a-z_]*" out.txt || fail "the culprit is not named: $(cat out.txt)"
"$HEAPPROF_BIN" report heapprof.check.leaky.json >report.txt || fail "the kept profile cannot be read"
