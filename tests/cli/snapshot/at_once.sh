# Three snapshots at once have the same numbers, or say that another is being taken.
holds_live_starts
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
