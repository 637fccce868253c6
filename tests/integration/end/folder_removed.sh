# The working folder goes while the program runs: its end is said, and what has a place of its own is written.
mkdir gone kept spare
export TMPDIR=$PWD/spare
for output in "" "-o x.json" "-o $PWD/kept/x.json"; do
  mkdir -p gone
  rm -f kept/*
  expected=125
  [ "$output" = "${output#*/kept/}" ] || expected=3
  status=0
  # shellcheck disable=SC2086
  (cd gone && exec "$HEAPPROF_BIN" run -q $output -- sh -c 'rm -rf ../gone; sh -c "exit 5"; exit 3') 2>err.txt || status=$?
  expect_eq "exit status with '$output'" $status $expected
  if [ $expected = 125 ]; then
    expect_in err.txt "HP345"
    check_profile spare/*.json
    rm spare/*.json
  else
    expect_eq "what is said" "$(grep -v getcwd err.txt)" ""
    expect_eq "profiles: of both shells, and of rm" "$(ls kept | wc -l)" 3
  fi
done
