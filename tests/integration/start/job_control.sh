# At a terminal a program under heapprof stops, goes on and is interrupted as one without it.
have pgrep || missing pgrep "no pgrep"
"$PYTHON" "$SOURCE/tests/support/job_control.py" "$HEAPPROF_BIN" || fail "see above"
check_profile one.json two.json three.json four.json five.json six.json seven.json eight.json nine.json
expect_end exited 5 one.json
expect_end signaled 9 five.json
