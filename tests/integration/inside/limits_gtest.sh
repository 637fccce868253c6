# Of GoogleTest tests, those that break a limit fail, and no others: by properties, by macros, by defaults; each says
# need and found. What GoogleTest takes itself is in no default's numbers.
"$TARGETS/limits_gtest" --gtest_list_tests >list.txt || missing gtest "libgtest-dev was not there when the tests were built"
tests() { "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/limits_gtest" "$@"; }
failed() { grep -oE '^\[  FAILED  \] [A-Za-z]+\.[A-Za-z]+$' "$1" | sort -u | cut -d' ' -f6; }
want="Over.Allocations Over.BadSize Over.Bytes Over.InAThread Over.Leaked Over.Nested Over.NoAllocations Over.OtherDevice Over.Peak Room.OverPeak"
for how in "" "--gtest_shuffle --gtest_random_seed=7" "--gtest_output=xml:tests.xml"; do
  # shellcheck disable=SC2086
  expect_status 1 tests $how
  expect_eq "which tests fail $how" "$(failed out.txt | paste -sd' ')" "$want"
  expect_eq "messages" "$(cat err.txt)" ""
done
check_profile profile.json
expect_complete
at=$(line_of "$SOURCE/tests/targets/inside/limits_gtest.cc" 'TEST(Over, Peak)')
expect_in out.txt "limits_gtest.cc:$at: Failure"
expect_in out.txt "  limit  peak=4kB"
expect_in out.txt "  need   at most 3.91 KiB (4,000 B) above what was live at the begin"
expect_in out.txt "  need   at most 8.00 KiB (8,192 B) allocated"
expect_in out.txt "  need   at most 100 allocations"
expect_in out.txt "  found  1.21 KiB (1,235 B) more, in 1 more block"
expect_in out.txt "  need   no allocation"
expect_in out.txt "  found  1001 B above "
expect_in out.txt "  found  4.60 KiB (4,713 B) above "
expect_in out.txt "'64M' can be read in two ways"
expect_in out.txt "nothing measured 'cuda:0' when the test began"

# An empty test is within limits of nothing.
export HEAPPROF_TEST_LIMITS="peak=0,bytes=0,allocations=0,leaked=0,peak=cuda:0=0"
expect_status 0 tests --gtest_filter=Default.Nothing --gtest_repeat=3
HEAPPROF_TEST_LIMITS="peak=1000,bytes=1000,allocations=1,leaked=0" expect_status 0 tests --gtest_filter=Default.*
expect_status 1 tests --gtest_filter=Default.*
expect_eq "over the default" "$(failed out.txt)" Default.TakesOne
expect_eq "its limits" "$(grep -c '^  limit ' out.txt)" 3
expect_in out.txt "  found  1000 B by 1 allocation"
unset HEAPPROF_TEST_LIMITS

expect_status 0 "$TARGETS/limits_gtest" --gtest_filter=-*.BadSize:*.OtherDevice
expect_eq "lines that say so" "$(grep -c "heapprof: not checked: no profiler records this process" err.txt)" 1
expect_status 1 "$TARGETS/limits_gtest" --gtest_filter=*.BadSize
HEAPPROF_REQUIRED=1 expect_status 1 "$TARGETS/limits_gtest" --gtest_filter=Within.*:Default.*
expect_eq "not checked" "$(failed out.txt | paste -sd' ')" "Within.BlocksOfATest Within.Nothing Within.PeakAndLeaked Within.ThreadsAtOnce"
expect_in out.txt "a limit was not checked, and HEAPPROF_REQUIRED is set"
