# An output that cannot be written is said before the program starts.
refused() {
  rm -f started
  expect_status 125 "$HEAPPROF_BIN" run -o "$1" -- touch started
  expect_in err.txt "heapprof: error:"
  expect_in err.txt "fix:"
  [ ! -e started ] || fail "the program was started although $1 cannot be written"
}
refused no/such/folder/profile.json
mkdir folder
refused folder
refused /proc/profile.json
refused ""
if [ "$(id -u)" != 0 ]; then
  mkdir locked
  chmod 500 locked
  refused locked/profile.json
fi
