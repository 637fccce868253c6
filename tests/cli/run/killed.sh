# The summary of a program that was killed.
export COLUMNS=80
expect_status 137 "$HEAPPROF_BIN" run -o killed.json sh -c 'kill -9 $$'
expect_in err.txt "killed by SIGKILL"
expect_in err.txt "the profile is complete up to there"
