# A program that writes over the memory shared with heapprof spoils its own numbers and nothing else: heapprof ends,
# says so, and the processes beside it are exact.
unset LD_PRELOAD
damaged=0
for seed in $(seq 1 "${SCRIBBLES:-12}"); do
  expect_status 0 "$TARGETS/scribbles" $seed
  mv out.txt plain.txt
  status=0
  timeout 300 "$HEAPPROF_BIN" run -o p.json "$TARGETS/scribbles" $seed >out.txt 2>err.txt || status=$?
  expect_eq "status, seed $seed" $status 0
  diff plain.txt out.txt >&2 || fail "seed $seed: another output"
  [ "$(jq .heapprof.run.complete p.json)" = true ] || damaged=$((damaged + 1))
  "$HEAPPROF_BIN" report p.json >/dev/null || fail "seed $seed: the profile cannot be read"
done
[ $damaged -gt 0 ] || fail "nobody noticed anything"
echo "$damaged of ${SCRIBBLES:-12} profiles say that they are incomplete" >&2

rm -f t*.json
expect_status 0 "$HEAPPROF_BIN" run -q -o t.json sh -c "'$TARGETS/scribbles' 1 >/dev/null & '$TARGETS/leaky'; wait"
leaky=$(for file in t*.json; do jq -r '.heapprof.run.command[0] | select(endswith("/leaky")) | input_filename' "$file"; done)
expect_sum '^leak_blocks' "6175 5 6175 5" "$leaky"
expect_complete "$leaky"
