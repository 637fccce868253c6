# heapprof works in a folder whose name LD_PRELOAD cannot hold, and leaves nothing of its way out behind.
export TMPDIR=$PWD/temporary
mkdir temporary
lib=$(dirname "$(find "$(dirname "$(dirname "$HEAPPROF_BIN")")" -name libheapprof.so | head -1)")
sh -c 'echo out; echo err >&2; exit 3' >plain.out 2>plain.err || true
for name in "a b" "a:b" 'a$ORIGIN' 'a;b' ünï; do
  mkdir -p "$name/bin" "$name/lib"
  cp "$HEAPPROF_BIN" "$name/bin/heapprof"
  cp -r "$lib" "$name/lib/heapprof"
  rm -f profile*.json
  expect_status 3 "$name/bin/heapprof" run -q -o profile.json -- sh -c "sh -c 'echo out; echo err >&2; exit 3'; exit \$?"
  expect_eq "output in '$name'" "$(cat out.txt; cat err.txt)" "$(cat plain.out plain.err)"
  check_profile profile.json
  [ "$(ls profile*.json | wc -l)" -eq 2 ] || fail "the child has no profile in '$name'"
  expect_eq "left behind" "$(ls temporary)" ""
  expect_status 0 "$name/bin/heapprof" doctor
  expect_eq "left behind by doctor" "$(ls temporary)" ""
done

# Processes that outlive heapprof have that path in their environment: it stays for what they start.
mkfifo go
expect_status 0 "a b/bin/heapprof" run -q -o profile.json -- sh -c "setsid sh -c 'read x <go; env true 2>late.txt; echo \$? >done' &"
[ -n "$(ls temporary)" ] || fail "the link is gone"
mkfifo done && echo x >go && read -r status <done
expect_eq "status of what is started late" "$status" 0
expect_eq "what it says" "$(cat late.txt)" ""

# Where no link can be made, that is said.
TMPDIR=$PWD/none expect_status 125 "a b/bin/heapprof" run -q -o profile.json -- true
expect_in err.txt "cannot stand in LD_PRELOAD"
