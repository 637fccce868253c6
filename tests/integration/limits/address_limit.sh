# A program that limits its own address space is served as far as the limit goes, and nothing it got is missing.
profile "$TARGETS/address_limit" 64
expect_eq "exit status" "$status" 0
read -r threads large small <out.txt
"$TARGETS/address_limit" 64 >plain.txt
read -r plain_threads plain_large plain_small <plain.txt
expect_eq "threads" "$threads" "$plain_threads"
expect_eq "small blocks" "$small" "$plain_small"
[ "$large" -ge $((plain_large - 24)) ] || fail "$large blocks of 1 MiB under heapprof, $plain_large without"
expect_eq "lost events" "$(counter lost_count)" 0
read -r bytes blocks _ leaked < <(sum '^allocate_large')
expect_eq "large blocks" "$bytes $blocks $leaked" "$((large * 1048577)) $large $((large - large / 2))"
expect_eq "small blocks" "$(sum '^allocate_small' | cut -d' ' -f2)" $((small + threads))

# A limit that is set inside of the run, and that has no room for the agent: the program runs without it, which is said.
for kib in 8000 12000 16000; do
  want=0 got=0
  sh -c "ulimit -v $kib; exec /bin/ls /" >want.txt 2>/dev/null || want=$?
  "$HEAPPROF_BIN" run -o limited.json -- sh -c "ulimit -v $kib; exec /bin/ls /" >got.txt 2>err.txt || got=$?
  expect_eq "ulimit -v $kib: status" "$got" "$want"
  expect_eq "ulimit -v $kib: output" "$(cat got.txt)" "$(cat want.txt)"
  expect_in err.txt "its limit on address space"
done
