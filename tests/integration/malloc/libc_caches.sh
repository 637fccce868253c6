# Built-in suppressions: each one is seen to fit a cache of libc or libstdc++ that a program really filled; what libc
# hands out to be freed, and the program's own blocks, stay leaks; and shown + suppressed is what leaked.
export LC_ALL=C.UTF-8
: >used.txt
profile() {
  local file=$1
  shift
  "$HEAPPROF_BIN" run -q -o "$file" "$@" >/dev/null
  "$HEAPPROF_BIN" report --format json --list-suppressions "$file" >report.json 2>/dev/null
  jq -r '.devices[0].suppressions[] | select(.suppressed_leaked_blocks_count > 0) | .rule' report.json >>used.txt
  expect_eq "$file: leaked bytes in rules and in places" "$(jq '[.devices[0].suppressions[].suppressed_leaked_bytes] | add' report.json)" \
    "$(jq '[.devices[0].places[].suppressed_leaked_bytes] | add' report.json)"
  expect_eq "$file: leaked bytes" "$(jq '[.pps[].eb] | add' "$file")" "$(jq '.devices[0].leaked_bytes' report.json)"
  # What remains belongs to the program: 1235 bytes of its own, the FILE that it did not close, iconv's and newlocale's
  # handle.
  jq '.devices[0].places[] | select((.function // "") | contains("leak_own")) |
    {bytes: (.leaked_bytes - .suppressed_leaked_bytes), blocks: (.leaked_blocks_count - .suppressed_leaked_blocks_count)}' \
    report.json >own.json
  expect_eq "$file: places with 1235 bytes" "$(jq -s '[.[] | select(.bytes == 1235 and .blocks == 1)] | length' own.json)" 1
  expect_eq "$file: own places that leak" "$(jq -s '[.[] | select(.blocks > 0)] | length' own.json)" 3  # newlocale hands out a constant for "C"
}
profile all.json "$TARGETS/libc_caches"
profile mbrtowc.json "$TARGETS/libc_caches" mbrtowc
profile localtime.json "$TARGETS/libc_caches" localtime
profile static.json "$TARGETS/libc_caches_static"

# Rules for what this machine does not have: glibc before 2.34; libc's debug information; a name service module besides
# libc's own; Python, whose rules python_places tries.
optional='module:(ld|libc)-2\.|function:_nl_\*|__gconv_lookup_cache|__wcsmbs_load_conv|__tz_convert|__check_pf|__new_exitfn|_dlerror_run|module:libnss_|allocation <- module:ld-linux|^python: '
jq -r '.devices[0].suppressions[].rule' report.json | sort >all.txt
[ "$(wc -l <all.txt)" -ge 30 ] || fail "only $(wc -l <all.txt) rules are built in"
sort -u used.txt | comm -23 all.txt - | grep -vE "$optional" >idle.txt || true
expect_eq "rules that fit nothing" "$(cat idle.txt)" ""

# The profile itself does not depend on suppressions, and without them all of it is leaked.
cp all.json before.json
"$HEAPPROF_BIN" report --no-default-suppressions --format json all.json >report.json 2>/dev/null
expect_eq "suppressed without rules" "$(jq '.devices[0].suppressed_leaked_bytes' report.json)" 0
cmp before.json all.json || fail "a report changed the profile"
