# What cannot be watched is said, and what is no command line.
expect_status 1 "$HEAPPROF_BIN" top 999999999
expect_in err.txt "there is no process 999999999 [HP087]"
expect_status 1 "$HEAPPROF_BIN" top $$
expect_in err.txt "process $$ is not being profiled [HP088]"
expect_status 2 "$HEAPPROF_BIN" top
expect_in err.txt "fix:     heapprof top PID"
expect_status 2 "$HEAPPROF_BIN" top me
expect_in err.txt "PID takes the number of a process, not 'me' [HP052]"
for interval in 0s 249ms 2h 1 s 1.5s; do
  expect_status 2 "$HEAPPROF_BIN" top --interval $interval 1
  expect_in err.txt "'$interval' is no interval between samples [HP242]"
done
expect_status 2 "$HEAPPROF_BIN" top --format json 1
expect_in err.txt "--format json"
refused 125 run --live "$TARGETS/leaky" <<SAID
heapprof: error: --live shares the terminal with the program, whose output would be in the view [HP240]
  fix:     send that to a file: heapprof run --live --child-output out.txt -- $TARGETS/leaky
  instead: run it without --live, and use: heapprof top PID in another terminal
SAID
refused 125 run --live --child-output said.txt ./leaky <<'SAID'
heapprof: error: --live needs a terminal as standard input and output [HP241]
  fix:     run it in a terminal: heapprof run --live --child-output out.txt -- ./leaky
  instead: run it without --live, and use: heapprof top PID in another terminal
SAID
expect_status 125 "$HEAPPROF_BIN" run -q --child-output /nonexistent/said.txt "$TARGETS/leaky"
expect_in err.txt "/nonexistent/said.txt cannot be written: no such file or directory [HP031]"
cat >says_both.sh <<'SCRIPT'
echo out
echo err >&2
SCRIPT
expect_status 0 "$HEAPPROF_BIN" run -q --child-output said.txt sh says_both.sh
expect_eq "the program's output" "$(cat said.txt)" "$(printf 'out\nerr')"
