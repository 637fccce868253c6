# A hard limit on a file's size, below that of the shared memory: heapprof refuses before the program is started.
for command in run check; do
  rm -f touched
  status=125 && options="-q -o p.json"
  [ $command = run ] || { status=3 && options="--max-peak host=1GiB"; }
  got=0
  # shellcheck disable=SC2086
  (ulimit -f 2000 && "$HEAPPROF_BIN" $command $options -- touch touched) >out.txt 2>err.txt || got=$?
  expect_eq "status of $command" "$got" $status
  expect_in err.txt "error: the kernel gives no shared memory for the events (ftruncate: File too large) [HP035]"
  expect_in err.txt "ulimit -f unlimited"
  [ ! -e touched ] || fail "$command started the program before it refused"
done
