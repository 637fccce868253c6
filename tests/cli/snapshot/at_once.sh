# Three snapshots at once have the same numbers, or say that another is being taken. One after the other is never
# refused: who has its answer may ask again, though the copy that wrote it may not have ended.
holds_live_starts
for i in $(seq 20); do
  expect_status 0 "$HEAPPROF_BIN" snapshot -q -o "in_turn_$i.json" "$target"
done
expect_status 0 "$HEAPPROF_BIN" snapshot -o now.json "$target"
for i in 1 2 3; do
  "$HEAPPROF_BIN" snapshot -q -o "at_once_$i.json" "$target" 2>"words_$i.txt" &
  asked[$i]=$!
done
written=0
for i in 1 2 3; do
  if wait "${asked[$i]}"; then
    written=$((written + 1))
    expect_eq "one of several" "$(numbers at_once_$i.json)" "$(numbers now.json)"
  else
    expect_in "words_$i.txt" "no snapshot of process $target: another snapshot of it is being taken [HP089]"
  fi
done
[ $written -ge 1 ] || fail "of three at once none was written"
holds_live_ends
