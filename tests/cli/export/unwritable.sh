# A full disk, and a folder that is not there: an error, and nothing half-written.
cp "$small" r.json
expect_status 3 "$HEAPPROF_BIN" export --format folded -o kept.txt missing.json
[ ! -e kept.txt ] || fail "something was written in spite of an error"
expect_status 1 "$HEAPPROF_BIN" export --format folded -o /nonexistent/x r.json
expect_in err.txt "[HP031]"
# A full disk behind stdout or -o is an error; what was there before stays.
expect_status 1 sh -c '"$1" export --format pprof r.json >/dev/full' - "$HEAPPROF_BIN"
expect_status 1 "$HEAPPROF_BIN" export --format speedscope -o /dev/full r.json
