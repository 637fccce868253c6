# A screen for -h, examples and exit status in --help, for each command.
fits() { ! grep -E "^.{81,}" "$1" || fail "wider than 80 columns"; }
for command in run attach detach pause resume mark report diff snapshot serve merge symbolize export push history check estimate doctor; do
  expect_status 0 "$HEAPPROF_BIN" $command -h
  [ "$(wc -l <out.txt)" -le 24 ] || fail "$command -h is longer than a screen"
  expect_not_in out.txt "--fence"
  fits out.txt
  expect_status 0 "$HEAPPROF_BIN" $command --help
  expect_in out.txt "examples"
  fits out.txt
  cp out.txt long.txt
  expect_status 0 "$HEAPPROF_BIN" help $command
  cmp long.txt out.txt || fail "help $command and $command --help differ"
  expect_in out.txt "exit status"
  # Help asked for beats a mistake elsewhere on the line only if it stands in front of it.
  expect_status 0 "$HEAPPROF_BIN" $command --help --color=always
done
