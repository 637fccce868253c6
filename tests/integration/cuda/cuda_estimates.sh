# --estimate-gpu: what contexts and modules take, by site, and marked as an estimate; nothing is asked without it, or in
# a capture.
export FAKE_CUDA_OVERHEAD=1
"$TARGETS/cuda_estimates" >plain.txt || fail "without heapprof: $?"
expect_eq "questions without heapprof" "$(cat plain.txt)" "0 0"
profile "$TARGETS/cuda_estimates"
expect_eq "exit status" "$status" 0
expect_eq "questions without the flag" "$(cat out.txt)" "0 0"
expect_eq "estimates without the flag" "$(jq '[.heapprof.devices[].unseen // empty] | length' profile.json)" 0

"$HEAPPROF_BIN" run --color never --estimate-gpu -o profile.json -- "$TARGETS/cuda_estimates" >out.txt 2>err.txt || fail "$? $(cat err.txt)"
expect_complete
read -r asked captured <out.txt
[ "$asked" -gt 0 ] || fail "nothing was asked"
expect_eq "questions while a stream was captured" "$captured" 0
estimate() { # DEVICE WHAT FUNCTION
  jq -r --arg device "$1" --arg what "$2" --arg function "$3" '.ftbl as $f | .heapprof.devices[] | select(.name == $device) | .unseen.estimates[] |
    select(.what == $what and ($f[.fs[0]] | test("(: |::)" + $function + "[ (]"))) | [.estimates_count, .bound_count, .size_bytes] | join(" ")' profile.json
}
mib=$((1 << 20))
expect_eq "two contexts, of which the first can only be bounded" "$(estimate cuda:0 context make_context | sort)" "1 0 $((64 * mib))
1 1 $((64 * mib))"
expect_eq "the limit's megabyte" "$(estimate cuda:0 context main)" "1 0 $mib"
expect_eq "the module" "$(estimate cuda:0 modules load)" "1 0 $((3 * mib))"
expect_eq "the kernel, at its first look-up" "$(estimate cuda:0 modules look_up)" "1 0 $((64 << 10))"
expect_eq "the library" "$(estimate cuda:0 modules main)" "1 0 $((6 * mib))"
expect_eq "the primary context of the other device, once" "$(estimate cuda:1 context main)" "1 1 $((64 * mib))"
expect_eq "no part of the exact numbers" "$(jq '.heapprof.devices[] | select(.name == "cuda:0") | .totals.total_bytes' profile.json)" $((10 * mib))
expect_in err.txt "not in these numbers, estimated from what was free before and after:"
for sign in ≤ ≈; do
  grep -qE "cuda:0 +context +$sign 64.0 MiB +1 × +make_context" err.txt || fail "$(cat err.txt)"
done
grep -qE 'cuda:0 +modules +≈ 3.00 MiB +1 × +load' err.txt || fail "$(cat err.txt)"
"$HEAPPROF_BIN" report --color never profile.json >report.txt
grep -qE 'cuda:0 +modules +≈ 3.00 MiB +1 × +load' report.txt || fail "$(cat report.txt)"
expect_eq "in JSON" "$("$HEAPPROF_BIN" report --format json profile.json | jq '.devices[] | select(.name == "cuda:0") | .estimated_modules.size_bytes')" $((9 * mib + (64 << 10)))
cp profile.json again.json
"$HEAPPROF_BIN" merge -o sum.json profile.json again.json 2>/dev/null || fail "merge: $?"
expect_eq "merged" "$(jq '[.heapprof.devices[] | select(.name == "cuda:0") | .unseen.estimates[] | .size_bytes] | add' sum.json)" $((2 * (138 * mib + (64 << 10))))
