# Colour and ASCII follow the terminal, the flags and the locale.
"$HEAPPROF_BIN" report "$small" >out.txt 2>/dev/null
expect_not_in out.txt $'\033'
"$HEAPPROF_BIN" report --color=always "$small" >out.txt 2>/dev/null
expect_in out.txt $'\033[1m'
LC_ALL=C "$HEAPPROF_BIN" report --tree "$small" >out.txt 2>/dev/null
expect_eq "lines beyond ASCII" "$(LC_ALL=C grep -cP '[^\x00-\x7f]' out.txt || true)" 0
if have script; then
  script -qec "env TERM=xterm stty cols 93; env TERM=xterm COLUMNS=50 '$HEAPPROF_BIN' report '$small'" typed.txt >/dev/null </dev/null
  expect_in typed.txt $'\033[1m'
  script -qec "env TERM=xterm NO_COLOR=1 '$HEAPPROF_BIN' report '$small'" typed.txt >/dev/null </dev/null
  expect_not_in typed.txt $'\033[1m'
fi
