# Estimates beside what was counted: a program allocates tensors, attention, caches and weights on the heap and on a
# device; heapprof counts its bytes, and heapprof/estimate.hpp and heapprof estimate say the same ones, to the byte.
profile "$TARGETS/estimate_oracle"
expect_eq "exit status" "$status" 0
expect_complete
[ "$(wc -l <out.txt)" -ge 48 ] || fail "fewer cases than there are: $(cat out.txt)"
cp out.txt cases.txt
jq '.pps = [.heapprof.devices[] | select(.name == "cuda:0") | .pps[]]' profile.json >device.json
for file in profile device; do "$PYTHON" "$SOURCE/tests/support/sites.py" $file.json books cases.txt >$file.txt; done
while read -r function expected words; do
  file=profile.txt
  [[ $function = host_* ]] || file=device.txt
  read -r total _ live _ <<<"$(sed -n "s/^$function //p" $file)"
  expect_eq "$function: bytes counted" "$total $live" "$expected $expected"
  # shellcheck disable=SC2086
  expect_eq "$function: heapprof estimate $words" "$("$HEAPPROF_BIN" estimate $words --format json | jq -r .bytes)" "$expected"
done <cases.txt
cuda_bytes=$(jq '[.heapprof.devices[] | select(.name == "cuda:0") | .totals.total_bytes] | add' profile.json)
expect_eq "all that the device gave" "$cuda_bytes" "$(awk '/^cuda_/ { sum += $2 } END { print sum }' cases.txt)"

# What fits into a device by the estimate fits when it is allocated there, and a byte more does not.
export LD_LIBRARY_PATH="$BUILD/tests/fake_cuda" FAKE_CUDA_OVERHEAD=1
most=$("$HEAPPROF_BIN" estimate weights 1 --dtype u8 --overhead 1 --device cuda:0 --format json | jq -r .largest.value)
expect_eq "what fits" "$most" $((960 << 20))
expect_status 0 "$TARGETS/estimate_oracle" weights "$most"
expect_status 7 "$TARGETS/estimate_oracle" weights $((most + 1))
