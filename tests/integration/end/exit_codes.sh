# The exit status of the program is that of heapprof, whatever it is; 128 + N where signal N ended it.
for code in $(seq 0 255); do
  status=0
  "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/exit_code" "$code" || status=$?
  expect_eq "exit status" $status "$code"
done
expect_end exited 255
for signal in 1 2 3 6 9 13 14 15 31; do
  status=0
  "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/raises" $signal 2>/dev/null || status=$?
  expect_eq "exit status after signal $signal" $status $((128 + signal))
  expect_end signaled $signal
done
