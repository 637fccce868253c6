# A screen for -h, examples and exit status in --help, for each command.
for command in run report diff snapshot merge export history check doctor; do
  expect_status 0 "$HEAPPROF_BIN" $command -h
  [ "$(wc -l <out.txt)" -le 24 ] || fail "$command -h is longer than a screen"
  expect_not_in out.txt "--fence"
  expect_status 0 "$HEAPPROF_BIN" $command --help
  expect_in out.txt "examples"
  expect_in out.txt "exit status"
  # Help asked for beats a mistake elsewhere on the line only if it stands in front of it.
  expect_status 0 "$HEAPPROF_BIN" $command --help --color=always
done
