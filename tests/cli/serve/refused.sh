# What cannot be served is said, and what is no command line.
expect_status 2 "$HEAPPROF_BIN" serve
expect_in err.txt "fix:     heapprof serve PID"
expect_status 2 "$HEAPPROF_BIN" serve me
expect_in err.txt "PID takes the number of a process, not 'me' [HP052]"
expect_status 2 "$HEAPPROF_BIN" serve --follow x 1
expect_status 1 "$HEAPPROF_BIN" serve --listen 0 999999999
expect_in err.txt "there is no process 999999999 [HP087]"
expect_status 1 "$HEAPPROF_BIN" serve --listen 0 $$
expect_in err.txt "process $$ is not being profiled [HP088]"
for address in http 65536 :80 example.org:80 ::1:80; do
  expect_status 2 "$HEAPPROF_BIN" serve --listen "$address" 1
  expect_in err.txt "nothing can listen at '$address'"
done
holds_live_starts
at_end() { live_ends; }
serves "$target"
refused 1 serve --listen "${url##*:}" "$target" <<SAID
heapprof: error: 127.0.0.1:${url##*:} cannot be listened at: address already in use [HP261]
  fix:     see who has the port: ss -ltnp
  instead: let the system choose a port: --listen 0
SAID
expect_status 1 "$HEAPPROF_BIN" serve --listen 192.0.2.1:0 --token-file <(echo 0123456789abcdef) "$target"
expect_in err.txt "192.0.2.1:0 cannot be listened at"
# No folder for temporary files.
TMPDIR=$PWD/none expect_status 1 "$HEAPPROF_BIN" serve --listen 0 "$target"
expect_in err.txt "[HP031]"
kill $serve
wait $serve || true
holds_live_ends
