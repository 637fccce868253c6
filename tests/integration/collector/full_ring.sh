# A ring holds 65,000 events of a thread while nobody reads it, however small it was before; the next one is lost, and
# counted, with --on-full=drop.
for count in 32000 100000; do
  status=0
  "$HEAPPROF_BIN" run --on-full=drop -o profile.json -- "$TARGETS/stops_collector" $count >out.txt 2>err.txt || status=$?
  expect_eq "exit status" "$status" 0
  check_profile profile.json
  lost=$(counter lost_count)
  read -r _ blocks _ leaked < <(sum '^allocate_one')
  echo "$count blocks: $blocks seen, $lost events lost"
  if [ $count = 32000 ]; then
    expect_eq "lost events" "$lost" 0
    expect_eq "blocks seen" "$blocks" $((count + 1))
  else
    [ "$lost" -gt 0 ] || fail "nothing was lost, the test tests nothing"
    [ "$blocks" -ge 32200 ] && [ "$blocks" -le 32800 ] || fail "$blocks blocks were seen"
  fi
done
