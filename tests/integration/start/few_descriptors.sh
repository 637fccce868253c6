# Where few descriptors are allowed, the program runs as it would, or is not started and heapprof says why.
cat >run_with.sh <<'T'
ulimit -n "$1"
shift
exec "$@"
T
started=0 refused=0
for limit in $(seq 4 30); do
  rm -f ran
  status=0
  bash run_with.sh $limit "$HEAPPROF_BIN" run -q -o profile.json -- sh -c 'echo >ran; exit 3' >out.txt 2>err.txt || status=$?
  [ $status -lt 128 ] || fail "with $limit descriptors heapprof was killed: $status"
  if [ -e ran ]; then
    started=$((started + 1))
  elif grep -q 'error:.*\[HP' err.txt; then
    refused=$((refused + 1))
    expect_eq "exit status with $limit descriptors" $status 125
    grep -q 'ulimit' err.txt || fail "with $limit descriptors the fix has no limit in it: $(cat err.txt)"
  elif ! grep -q 'error while loading' err.txt; then  # the loader needs some, too
    fail "with $limit descriptors nothing is said: $status $(cat err.txt)"
  fi
done
echo "$started started, $refused refused"
[ $started != 0 ] && [ $refused != 0 ] || fail "one of both was not tried"
