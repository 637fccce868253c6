# pprof is no text for a terminal.
if have script; then
  script -qec "'$HEAPPROF_BIN' export --format pprof '$small'" /dev/null >tty.txt </dev/null && fail "binary on a terminal"
  expect_in tty.txt "[HP131]"
  script -qec "'$HEAPPROF_BIN' export --format folded '$small'" /dev/null >tty.txt </dev/null || fail "text on a terminal was refused"
  expect_in tty.txt "main;"
fi
