# The profile can go to what is no regular file: standard output, a pipe.
expect_status 0 "$HEAPPROF_BIN" run -q -o /dev/stdout true
expect_eq "profile on standard output" "$(json out.txt .dhatFileVersion)" 2
mkfifo pipe
cat pipe >from_pipe.json &
expect_status 0 timeout 20 "$HEAPPROF_BIN" run -q -o pipe true
wait
expect_eq "profile through a pipe" "$(json from_pipe.json .dhatFileVersion)" 2
