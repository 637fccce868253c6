# The same flags in --help, man pages and completions.
"$SOURCE/scripts/check-help" "$HEAPPROF_BIN" >differences.txt || fail "$(cat differences.txt)"
