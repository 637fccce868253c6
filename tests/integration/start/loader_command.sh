# A program that is started by naming its loader, as bundles and Nix do, is profiled and named as the program.
loader=$(readelf -l "$TARGETS/leaky" 2>/dev/null | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
[ -n "$loader" ] || skip "no readelf"
mkdir folder && cp "$TARGETS/leaky" folder/prog
natively=0
(cd folder && "$loader" ./prog) >plain.txt || natively=$?
cd folder || exit 1
for words in "" "--library-path /lib/x86_64-linux-gnu --inhibit-cache" "--argv0 other --inhibit-rpath x"; do
  rm -f ./*.json
  # shellcheck disable=SC2086
  expect_status $natively "$HEAPPROF_BIN" run -- "$loader" $words ./prog
  expect_eq "output" "$(cat out.txt)" "$(cat ../plain.txt)"
  expect_eq "its name" "$(ls ./*.json)" "$(ls ./heapprof.prog.*.json)"
  mv ./*.json profile.json
  check_profile profile.json
  expect_eq "its file" "$(json profile.json .heapprof.run.executable)" "$(pwd -P)/prog"
  expect_eq "its command" "$(json profile.json '.heapprof.run.command | join(" ")')" ./prog
  [ "$(json profile.json '[.ftbl[] | select(contains("main") and contains("leaky"))] | length')" -gt 0 ] ||
    fail "main has no name"
done

# As a child.
rm -f ./*.json
expect_status $natively "$HEAPPROF_BIN" run -o whole.json -- sh -c "$loader ./prog; exit \$?"
child=$(ls whole.*.json)
check_profile "$child"
expect_eq "the child's file" "$(json "$child" .heapprof.run.executable)" "$(pwd -P)/prog"

# What starts nothing is said, and what the loader cannot load it says itself.
expect_status 125 "$HEAPPROF_BIN" run -- "$loader" --list ./prog
expect_in err.txt "--list starts no program"
expect_status 127 "$HEAPPROF_BIN" run -- "$loader" ./none
expect_in err.txt "./none"
