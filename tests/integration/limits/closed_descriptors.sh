# A program may close every descriptor it did not open, 0 to 2 as well, and use their numbers: it is profiled on.
for what in "" stdio; do
  profile "$TARGETS/closes_descriptors" $what
  expect_eq "exit status ($what)" "$status" 0
  expect_complete
  expect_sum '^allocate_before' "1235 1 1235 1"
  expect_sum '^allocate_after' "1237000 1000 1237000 1000"
done
