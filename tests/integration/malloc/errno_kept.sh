# No hook changes errno, in whatever it has to do besides; nor with a collector that stands still for a while.
expect_status 0 "$TARGETS/errno_kept" "$TARGETS/plugin_alpha.so"
expect_eq "natively" "$(cat out.txt)" "changed 0"
for flag in --no-summary --on-full=drop --verify-stacks; do
  [ $flag != --verify-stacks ] || [ -e "$BUILD/lib/heapprof/libheapprof-verify.so" ] || continue
  expect_status 0 "$HEAPPROF_BIN" run -q $flag -o profile.json -- "$TARGETS/errno_kept" "$TARGETS/plugin_alpha.so"
  expect_eq "with $flag" "$(cat out.txt)" "changed 0"
done
