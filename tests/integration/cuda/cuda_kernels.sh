# Kernels are counted by scope, name and shape; a graph is a graph; and what has no room is counted, too.
kernels() {  # NAME OF SCOPE, or "": outside of all
  jq -r --arg name "$1" 'def size: map(tostring) | join("x");
    (if $name == "" then .heapprof.scopes.outside else (.heapprof.scopes.scopes[] | select(.name == $name)) end) |
    .kernels // [] | .[] | "\(.name) \(.grid | size) of \(.block | size) \(.shared_bytes): \(.launches_count)"' profile.json
}
all_kernels() { jq '[.heapprof.scopes | (.outside, .scopes[]) | .kernels // [] | .[].launches_count] | add' profile.json; }
launches() { jq '.heapprof.device_api.kernel_launches_count' profile.json; }

run_scopes() {
  profile "$TARGETS/cuda_kernels" scopes
  expect_eq "exit status" "$status" 0
  expect_complete
  expect_eq "in step" "$(kernels step)" "softmax 1x1x1 of 32x1x1 0: 10
void app::gemm<float>(float*, int) 256x1x1 of 128x1x1 0: 10"
  expect_eq "in attention" "$(kernels scores)" "softmax 64x1x1 of 32x1x1 0: 20
void app::gemm<float>(float*, int) 64x1x1 of 128x1x1 4096: 10
void app::gemm<float>(float*, int) 256x1x1 of 128x1x1 0: 10"
  expect_eq "by all ways" "$(kernels ways)" "all_ways 1x2x3 of 32x2x1 100: 1
all_ways 2x2x3 of 32x2x1 100: 1
all_ways 3x2x3 of 32x2x1 100: 1
all_ways 5x6x7 of 8x4x2 1024: 2
all_ways 2147483647x65535x65535 of 1024x1x64 232448: 1"
  expect_eq "by all handles" "$(kernels handles | sed -E 's/n{100,}/n…n/')" "(unnamed kernel) 3x1x1 of 3x1x1 0: 1
n…n… 4x1x1 of 4x1x1 0: 1
of_library 2x1x1 of 2x1x1 0: 2"
  expect_eq "what is kept of a long name" "$(kernels handles | grep -oE 'n{100,}' | tr -d '\n' | wc -c)" 1016
  expect_eq "outside" "$(kernels "")" "void app::gemm<float>(float*, int) 1x1x1 of 1x1x1 0: 1"
  expect_eq "all of them" "$(all_kernels)" "$(launches)"
  check_profile profile.json
}
run_scopes
cp profile.json first.json
FAKE_CUDA_NAMELESS=1 run_scopes  # a driver that cannot be asked for names

"$HEAPPROF_BIN" report --scopes --stable --color never first.json >report.txt
expect_in report.txt "20 × softmax  64×1×1 of 32×1×1"
expect_in report.txt "10 × void app::gemm<float>(float*, int)  64×1×1 of 128×1×1, shared 4.00 KiB"
expect_in report.txt "launched outside all scopes:"
expect_eq "a few of many" "$(grep -c 'kind_' report.txt) $(grep -o '4 × 4 others' report.txt)" "5 4 × 4 others"
"$HEAPPROF_BIN" report --scopes --format json first.json >report.json
expect_eq "in JSON" "$(jq -c '[.scopes.scopes[] | select(.name == "kinds") | .kernels[] | .launches_count] | add' report.json)" 9
"$HEAPPROF_BIN" report --scopes --format dot first.json >report.dot
expect_in report.dot '[label="softmax", shape=component, style=dashed]'
expect_eq "an edge to it from each scope" "$(grep -cE "^  scope[0-9]+ -> $(sed -nE 's/^  (call[0-9]+) \[label="softmax".*/\1/p' report.dot) " report.dot)" 2
expect_not_in report.dot "launch kernel"
! have dot || dot -Tsvg report.dot >/dev/null || fail "Graphviz refuses it"
cp first.json second.json
"$HEAPPROF_BIN" merge -o profile.json first.json second.json 2>/dev/null || fail "merge: $?"
expect_eq "merged" "$(kernels step)" "softmax 1x1x1 of 32x1x1 0: 20
void app::gemm<float>(float*, int) 256x1x1 of 128x1x1 0: 20"

profile "$TARGETS/cuda_kernels" listed
expect_complete
expect_eq "kernels out of a list" "$(kernels listed)" "(unnamed kernel) 3x1x1 of 1x1x1 0: 1
listed_first 1x1x1 of 1x1x1 0: 1
listed_second 2x1x1 of 1x1x1 0: 1"

profile "$TARGETS/cuda_kernels" graph
expect_complete
expect_eq "a graph" "$(jq -c '.heapprof.scopes.scopes[0].graphs' profile.json)" \
  '[{"is_known":false,"kernels_count":0,"launches_count":1},{"is_known":true,"kernels_count":200,"launches_count":5}]'
expect_eq "what it captured" "$(kernels graphs)" "node 1x1x1 of 1x1x1 0: 200"
"$HEAPPROF_BIN" report --scopes --stable --color never profile.json >report.txt
expect_in report.txt "5 × a graph of 200 kernels"
expect_in report.txt "1 × a graph"

profile "$TARGETS/cuda_kernels" many 70000
expect_complete
expect_eq "rows" "$(jq '.heapprof.scopes.scopes[0].kernels | length' profile.json)" 65537
expect_eq "the others" "$(kernels many | grep other)" "(other kernels) 0x0x0 of 0x0x0 0: $((70000 - 65536))"
expect_eq "all of them" "$(all_kernels) $(launches)" "70000 70000"

profile "$TARGETS/cuda_kernels" names 6000
expect_complete
expect_eq "all of them" "$(all_kernels) $(launches)" "12000 12000"
names=$(jq '.heapprof.scopes.scopes[0].kernels | length' profile.json)
[ "$names" -gt 4000 ] && [ "$names" -le 4097 ] || fail "$names names found room"
expect_eq "no name twice" "$(jq '.heapprof.scopes.scopes[0].kernels | map(select(.name != "(other kernels)").launches_count) | unique' -c profile.json)" '[2]'
lost=$(jq '.heapprof.scopes.lost_kernel_names_count' profile.json)
[ "$lost" -ge $((6001 - names)) ] || fail "$lost names lost, $names kept"

for threads in 1 8 64; do
  profile "$TARGETS/cuda_kernels" threads $threads
  expect_complete
  expect_eq "$threads threads" "$(kernels thread | sed 's/.*: //' | sort -u)" $((threads * 100))
done

profile "$TARGETS/cuda_kernels" fork
expect_eq "the parent's" "$(kernels "")" "shared 1x1x1 of 1x1x1 0: 1"
cp profile.*.json profile.json
expect_eq "the child's, which has names of its own" "$(kernels child)" "shared 2x1x1 of 1x1x1 0: 1"
