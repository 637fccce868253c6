# Each version of posix_spawn does what it does without us: programs linked before glibc 2.15 hand a script without "#!"
# to the shell, newer ones are told ENOEXEC. All are followed.
printf 'echo "a script without a first line: $1"; exit 7\n' >script
chmod +x script
for program in ./script /bin/true ./missing; do
  expect_status 0 "$TARGETS/spawns_old" $program
  mv out.txt plain.txt
  rm -f p*.json
  expect_status 0 "$HEAPPROF_BIN" run -q -o p.json "$TARGETS/spawns_old" $program
  diff plain.txt out.txt >&2 || fail "$program: another outcome"
  [ $program = ./script ] || continue
  expect_in plain.txt "old posix_spawn: 0, status 1792"
  expect_in plain.txt "posix_spawn: ENOEXEC, status 0"
  expect_eq "profiles of the program and of six shells" "$(ls p*.json | wc -l)" 7
done
