# What heapprof doctor says follows what there is; what is not ok has its fix.
find_of() { jq -r --arg name "$1" '.checks[] | select(.name == $name) | .finding' found.json; }
what_of() { jq -r --arg name "$1" '.checks[] | select(.name == $name) | .what' found.json; }
(ulimit -n 100; ulimit -v 400000; TMPDIR=/nonexistent DEBUGINFOD_URLS=https://names.example "$HEAPPROF_BIN" doctor --format json >found.json)
expect_eq "open files with few" "$(find_of "open files")" warning
expect_eq "memory limit when tight" "$(find_of "memory limit")" warning
expect_eq "socket file without a folder" "$(find_of "socket file")" warning
expect_eq "debuginfod" "$(what_of debuginfod)" "missing names are asked of https://names.example"
jq -e '[.checks[] | select(.finding != "ok") | .fix] | all(. != null and . != "")' found.json >/dev/null || fail "a finding without a fix: $(cat found.json)"
# The arena is larger than files may be: heapprof run refuses (HP035), so programs cannot be profiled.
(ulimit -f 1000; expect_status 1 "$HEAPPROF_BIN" doctor --format json; mv out.txt found.json)
expect_eq "memory file above the limit of file sizes" "$(find_of memfd)" missing
