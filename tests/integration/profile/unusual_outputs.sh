# The profile can go to what is no regular file: standard output, a pipe.
expect_status 0 "$HEAPPROF_BIN" run -q -o /dev/stdout true
expect_eq "profile on standard output" "$(json out.txt .dhatFileVersion)" 2
mkfifo pipe
cat pipe >from_pipe.json &
expect_status 0 timeout 300 "$HEAPPROF_BIN" run -q -o pipe true
wait
expect_eq "profile through a pipe" "$(json from_pipe.json .dhatFileVersion)" 2

# Standard output that is a file: what others write there before and behind stays, and what was there.
for how in '>' '>>'; do
  echo earlier >kept.txt
  eval "{ echo before; \"\$HEAPPROF_BIN\" run -q -o /dev/stdout -- echo inside; echo behind; } $how kept.txt"
  for line in before inside behind; do
    grep -q "^$line\$\|}$line\$" kept.txt || fail "$how: '$line' is not in the file"
  done
  expect_eq "$how: what was there before" "$(grep -c '^earlier$' kept.txt)" "$([ "$how" = '>' ] && echo 0 || echo 1)"
  expect_eq "$how: profiles" "$(grep -c dhatFileVersion kept.txt)" 1
done
"$HEAPPROF_BIN" run -q -o /dev/fd/3 -- true 3>third.json
expect_eq "profile by a descriptor" "$(json third.json .dhatFileVersion)" 2
"$HEAPPROF_BIN" run -q -o /dev/fd/3 -- true 3<third.json  # one that is only read: the file is replaced, as others are
expect_eq "profile by a descriptor for reading" "$(json third.json .dhatFileVersion)" 2

# Two things in one file: refused before anything is written or run.
ln -s one.out link.out
for flags in "--html one.out -o one.out" "--child-output ./one.out -o one.out" "--child-output one.out --html $PWD/one.out"; do
  # shellcheck disable=SC2086
  expect_status 125 "$HEAPPROF_BIN" run -q $flags -- touch was_run
  expect_in err.txt "both name the file"
  [ ! -e was_run ] && [ ! -e one.out ] || fail "$flags: something was run or written"
done
"$HEAPPROF_BIN" run -q -o one.out -- true
before=$(cksum <one.out)
expect_status 2 "$HEAPPROF_BIN" report --html link.out one.out
expect_in err.txt "would replace the profile"
expect_status 2 "$HEAPPROF_BIN" export --format folded -o link.out one.out
expect_status 2 "$HEAPPROF_BIN" diff --html link.out one.out one.out
expect_in err.txt "would replace what is read"
expect_eq "the profile" "$(cksum <one.out)" "$before"
echo 'function:known # on purpose' >rules.supp
for command in "run -o rules.supp" "run --html ./rules.supp"; do
  # shellcheck disable=SC2086
  expect_status 125 "$HEAPPROF_BIN" $command --suppressions rules.supp -- touch was_run
  expect_in err.txt "its rules are read"
done
expect_status 2 "$HEAPPROF_BIN" report --html rules.supp --suppressions rules.supp one.out
expect_status 2 "$HEAPPROF_BIN" diff --html rules.supp --suppressions rules.supp one.out one.out
cp /bin/true program
for output in program %n ./%n; do
  expect_status 125 "$HEAPPROF_BIN" run -o $output -- ./program
  expect_in err.txt "it is the program"
done
expect_status 2 "$HEAPPROF_BIN" check --max-peak 1GiB -o program -- ./program
expect_in err.txt "both name program"
cp "$(command -v sleep)" waits
./waits 60 &
expect_status 1 "$HEAPPROF_BIN" attach --for 1s -q -o waits $!
expect_in err.txt "it is the program"
kill $!
cmp "$(command -v sleep)" waits || fail "the program that runs was replaced"
cmp /bin/true program || fail "the program was replaced"
expect_eq "the rules" "$(cat rules.supp)" 'function:known # on purpose'

# A program with a name that fills a file's name.
long=$(printf 'n%.0s' $(seq 250))
cp "$TARGETS/leaky" "$long"
expect_status 0 "$HEAPPROF_BIN" run -q -- "./$long"
expect_eq "profiles" "$(find . -name 'heapprof.nnn*.json' | wc -l)" 1
expect_status 3 "$HEAPPROF_BIN" run -q -o 'of.%n.%p.json' -- sh -c "./$long; exit 3"
expect_eq "profiles of the child" "$(find . -name 'of.nnn*.json' | wc -l)" 1
