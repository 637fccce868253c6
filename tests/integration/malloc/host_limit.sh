# heapprof run --limit host=SIZE: the heap keeps to it to the byte, and what does not fit fails as the function fails by
# itself.
limited() { # LIMIT PROGRAM…
  local limit=$1
  shift
  status=0
  "$HEAPPROF_BIN" run --limit "host=$limit" -o profile.json -- "$@" >out.txt 2>err.txt || status=$?
  [ -f profile.json ] || { cat err.txt >&2; fail "no profile of '$*' (status $status)"; }
}
refusals() { json profile.json "[.heapprof.devices[] | select(.name == \"host\") | (.refusals // [])[] | .$1] | add // 0"; }

# At the edge: 1,000,000 bytes are 25,000 blocks of 40, and one byte less is one block less.
for pair in "1000000 25000" "999999 24999" "40 1"; do
  limited "${pair% *}" "$TARGETS/host_limit_edge"
  expect_eq "exit status with ${pair% *} bytes" "$status" 0
  expect_eq "blocks of 40 in ${pair% *} bytes" "$(cat out.txt)" "${pair#* }"
  check_profile profile.json
  expect_eq "how often it was met" "$(refusals refused_count) $(refusals by_limit_count)" "2 2"
  expect_in err.txt "host came to its limit of"
done
expect_eq "the limit in the profile" "$(json profile.json '.heapprof.devices[0].limit_bytes')" 40
expect_in err.txt "get "
expect_eq "without a limit nothing of it is there" \
  "$("$HEAPPROF_BIN" run -q -o free.json -- "$TARGETS/leaky" >/dev/null 2>&1; json free.json '.heapprof.devices[0] | has("limit_bytes") or has("refusals")')" false

for what in edge kinds realloc new threads; do
  limited 20000000 "$TARGETS/host_limit" 20000000 $what
  [ "$status" = 0 ] || { cat err.txt >&2; fail "$what: status $status"; }
  check_profile profile.json
  expect_complete
done

# The limit was met at the first refusal, which is shown; the others came after it.
limited 4000000 "$TARGETS/host_limit_refusals"
expect_eq "exit status" "$status" 0
expect_in err.txt "3.00 MiB asked for"
expect_in err.txt "first_refused"
expect_in err.txt "  and 3 refused elsewhere after"
expect_eq "asked for, the latest first" \
  "$(json profile.json '[.heapprof.devices[0].refusals[].size_bytes / 1048576 | tostring] | join(" ")')" "2 5 2 3"

# An allocator with an operator new of its own is not limited, and nobody is told that it was.
path=$(ldconfig -p | awk '$1 == "libjemalloc.so.2" { print $NF; exit }')
if [ -n "$path" ]; then
  LD_PRELOAD=$path limited 1000000 "$TARGETS/leaky"
  expect_eq "complete with jemalloc" "$(json profile.json .heapprof.run.complete)" false
  expect_in err.txt "--limit host cannot be kept"
else
  not_tried "libjemalloc.so.2 is not installed: apt-get install libjemalloc2"
fi

# A program that can do something about it.
if [ -n "$PYTHON" ]; then
  limited 60000000 "$PYTHON" -c '
try:
    bytes(100_000_000)
except MemoryError:
    print("no memory")'
  expect_eq "exit status of python" "$status" 0
  expect_eq "python" "$(cat out.txt)" "no memory"
fi

expect_status 125 "$HEAPPROF_BIN" run --limit host=0 -- true
expect_status 125 "$HEAPPROF_BIN" run --limit heap=1MiB -- true
