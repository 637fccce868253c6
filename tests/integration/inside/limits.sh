# Limits in a program are held against the profiler's numbers: nested, in threads at once, in a child, with phases of
# the program's own. Over a limit the program aborts, and says need, found, file and line.
limits() { "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/limits" "$@"; }
within() { expect_status 0 limits "$@"; expect_in out.txt done; expect_eq "messages" "$(cat err.txt)" ""; check_profile profile.json; }
for how in within "threads 2 40" "threads 7 15" child; do
  # shellcheck disable=SC2086
  within $how
done
expect_status 134 limits over
at=$(line_of "$SOURCE/tests/targets/inside/limits.cc" 'void over()')
expect_in err.txt "heapprof: host peak is over its limit"
expect_in err.txt "  limit  HEAPPROF_REQUIRE_MAX_PEAK(\"2 MiB\")"
expect_in err.txt "limits.cc:$((at + 1))"
expect_in err.txt "  need   at most 2.00 MiB (2,097,152 B) above what was live at the begin"
expect_in err.txt "  found  3.00 MiB (3,145,728 B) above "
expect_in err.txt "  sites  3.00 MiB in 1 block"
expect_in err.txt "           take  limits.cc:$(line_of "$SOURCE/tests/targets/inside/limits.cc" 'g_block = std::malloc(bytes);')"
expect_in err.txt "           over  limits.cc:$((at + 2))"
expect_in err.txt "  all    heapprof report, with the profile that heapprof run writes at the end"
check_profile profile.json
HEAPPROF_PROFILE="my profile.json" expect_status 134 limits over
expect_in err.txt "  all    heapprof report my profile.json   (written when the program has ended)"

# Inner limits that fail are said when the outer ones have ended, in the order of their ends.
expect_status 0 limits nested
expect_eq "what is over" "$(cat out.txt)" "need 0 found 1
need 3999999 found 4000000
need 8999999 found 9000000
done"

# A device has limits of its own.
expect_status 0 limits cuda
expect_eq "what is over on the device" "$(cat out.txt)" "need 0 found 1048576
need 3145728 found 4194304
done"

# Without a profiler nothing is checked: that is said once, and fails where it is required.
unchecked="heapprof: not checked: no profiler records this process"
for how in within over nested "threads 2 2"; do
  # shellcheck disable=SC2086
  expect_status 0 "$TARGETS/limits" $how
  expect_eq "$how: lines that say so" "$(grep -c "$unchecked" err.txt)" 1
  expect_eq "$how: what is over" "$(grep -c "need" out.txt)" 0
done
HEAPPROF_REQUIRED=0 expect_status 0 "$TARGETS/limits" over
HEAPPROF_REQUIRED=1 expect_status 134 "$TARGETS/limits" within
expect_in err.txt "heapprof: a limit was not checked, and HEAPPROF_REQUIRED is set"
expect_in err.txt "why    no profiler records this process"
HEAPPROF_REQUIRED=1 within within
