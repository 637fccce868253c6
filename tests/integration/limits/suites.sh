# A part of CPython's own tests gives the same result, test by test, under heapprof; the long form is
# tests/stress/suites.sh.
status=0
"$PYTHON" "$SOURCE/tests/support/suites.py" "$HEAPPROF_BIN" test_gc test_mmap test_posix test_resource test_memoryview || status=$?
[ $status != 77 ] || skip "no python3 with its test suite: apt-get install libpython3.11-testsuite"
expect_eq "exit status" $status 0
