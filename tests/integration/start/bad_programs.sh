# What cannot be run or profiled is said in four parts, with the exit status that shells have for it.
refused() {  # STATUS PROGRAM…
  local want=$1
  shift
  rm -f profile.json
  expect_status "$want" "$HEAPPROF_BIN" run -o profile.json -- "$@"
  expect_in err.txt "heapprof: error:"
  expect_in err.txt "fix:"
  [ ! -e profile.json ] || fail "'$*' left a profile"
  expect_eq "files of '$*'" "$(ls -A | grep -c '^\.\?profile')" 0
}
refused 127 no-such-program
refused 127 ./no-such-program
refused 126 /tmp
echo "echo hello" >plain
refused 126 ./plain
printf '#!/no/such/interpreter\n' >script
chmod +x script
refused 127 ./script
head -c 100 /bin/ls >cut
chmod +x cut
refused 126 ./cut
: >empty
chmod +x empty
expect_status 0 "$HEAPPROF_BIN" run -q -o empty.json -- ./empty  # by the shell, as without us

# A static program runs unharmed, and heapprof says that it saw nothing.
printf 'int main(void) { return 9; }\n' >static.c
if gcc -static static.c -o static 2>/dev/null; then
  refused 125 ./static
  expect_in err.txt "static"
fi

# Flags: an unknown one before the program is ours, after it the program's.
expect_status 125 "$HEAPPROF_BIN" run --no-such-flag "$TARGETS/leaky"
expect_in err.txt "--no-such-flag"
expect_status 125 "$HEAPPROF_BIN" run
expect_status 0 "$HEAPPROF_BIN" run -q -o profile.json "$TARGETS/leaky" --no-such-flag
expect_status 5 "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/exit_code" 5
