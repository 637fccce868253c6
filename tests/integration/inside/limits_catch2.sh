# Of Catch2 tests, those that break a limit fail, and no others: by tags, by macros, nested, in threads; each says need
# and found. In any order, by every reporter, and without a profiler.
tests() { "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/limits_catch2" "$@"; }
# names FILE: the tests that failed, from what the XML reporter wrote
names() {
  "$PYTHON" - "$1" <<'PY'
import sys, xml.etree.ElementTree as tree
for case in tree.parse(sys.argv[1]).getroot().iter("TestCase"):
    if case.find("OverallResult").get("success") != "true":
        print(case.get("name"))
PY
}
want=$(grep -o 'TEST_CASE("\(over\|fails\)[^"]*' "$SOURCE/tests/targets/inside/limits_catch2.cc" | cut -d'"' -f2 | sort)
[ "$(wc -l <<<"$want")" = 13 ] || fail "the program's tests: $want"
status=0
tests -r xml >tests.xml || status=$?
[ "$status" = 14 ] || fail "14 checks fail, the status is $status"
expect_eq "which tests fail" "$(names tests.xml | sort)" "$want"
check_profile profile.json
expect_complete

# said NAME TEXT…: what a test that fails says
said() {
  local name=$1 text
  shift
  status=0
  tests "$name" >out.txt 2>err.txt || status=$?
  [ "$status" != 0 ] || fail "'$name' passes"
  for text in "$@"; do expect_said out.txt "$text"; done
}
at=$(line_of "$SOURCE/tests/targets/inside/limits_catch2.cc" '"over peak"')
take=$(line_of "$SOURCE/tests/targets/inside/limits_catch2.cc" 'g_block = std::malloc(bytes);')
said "over peak" "limits_catch2.cc:$at: FAILED" "host peak is over its limit" "need at most 4.88 KiB (4,999 B) above" "found 4.88 KiB (5,000 B) above"
said "over bytes" "need at most 8.00 KiB (8,192 B) allocated" "found 8.79 KiB (9,000 B) by 2 allocations" "sites 4.88 KiB in 1 block take limits_catch2.cc:$take C_A_T_C_H"
said "over allocations" "need at most 1 allocation found 2 allocations of 2 B" "sites 1 B in 1 block take limits_catch2.cc:$take"
said "over leaked" "need at most 0 B more than at the begin found 1.21 KiB (1,235 B) more, in 1 more block "
said "over two" "peak=1kB" "leaked=0" "assertions: 2 | 2 failed"
said "over no allocations" "HEAPPROF_REQUIRE_NO_ALLOCATIONS()" "need no allocation found 1 allocation of 7 B" "sites 7 B in 1 block (of all threads) take"
said "over the peak of a block" "found 1001 B" "sites 1001 B in 1 block take limits_catch2.cc:$take" "assertions: 2 | 1 passed | 1 failed"
said "over in another thread" "found 4.60 KiB (4,713 B)"
said "over in one section of two" "found 29.3 KiB (30,000 B)" "test cases: 1 | 1 failed assertions: 1 | 1 failed"
said "over what no size is" "'64M' can be read in two ways"
said "over what no limit is" "'peek' is no limit"
said "fails by itself" "by itself" "assertions: 1 | 1 failed"
expect_not_in out.txt "peak"

for how in "--order rand --rng-seed 7" "--order lex" "-r compact" "--abort"; do
  status=0
  # shellcheck disable=SC2086
  tests $how >out.txt 2>err.txt || status=$?
  expect_in out.txt "host"
  if [ "$how" = --abort ]; then expect_eq "--abort" "$status" 1; else expect_eq "$how" "$status" 14; fi
done
# Where every check is kept or said, those that a body makes count; what makes none is within its limits.
for how in "-r junit" --success; do
  # shellcheck disable=SC2086
  expect_status 12 tests $how "over*"
  # shellcheck disable=SC2086
  expect_status 0 tests $how "within a name*,within limits*"
done
expect_status 0 tests "within*"

# Defaults are for tests that say nothing else.
status=0
HEAPPROF_TEST_LIMITS="peak=0" tests -r xml "within*" >tests.xml || status=$?
expect_eq "over the default" "$(names tests.xml | sort)" "within a fixture"

expect_status 2 "$TARGETS/limits_catch2" "fails*"
expect_status 0 "$TARGETS/limits_catch2" "within*"
expect_eq "lines that say so" "$(grep -c "heapprof: not checked: no profiler records this process" err.txt)" 1
expect_status 0 "$TARGETS/limits_catch2" "over peak"
status=0
HEAPPROF_REQUIRED=1 "$TARGETS/limits_catch2" -r xml >tests.xml 2>err.txt || status=$?
expect_in tests.xml "a limit was not checked, and HEAPPROF_REQUIRED is set"
names tests.xml | grep -qx "within none" || fail "a limit that was not checked passed"
