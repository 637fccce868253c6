# A program with NVIDIA's own headers of NVTX, where they are installed: its ranges are scopes.
unset NVTX_INJECTION64_PATH CUDA_INJECTION64_PATH
status=0
"$TARGETS/nvtx_real" >out.txt || status=$?
[ "$status" != 77 ] || missing nvtx "NVIDIA's headers of NVTX (nvtx3/nvtx3.hpp) are not installed"
expect_eq "without a profiler" "$(cat out.txt)" "-2 -2 -2 -2"
profile "$TARGETS/nvtx_real"
expect_eq "exit status" "$status" 0
expect_complete
expect_eq "levels" "$(cat out.txt)" "0 1 1 0"
expect_eq "ends of what is not open" "$(json profile.json '.heapprof.scopes.unmatched_ends_count')" 1
"$PYTHON" "$SOURCE/tests/support/scope_books.py" profile.json | grep -v "^threads: " >got.txt
diff - got.txt <<'BOOKS' || fail "other scopes than those"
input:größe > inner: 1 1 0 0 | 7 1 0 0 7 | 0 0 0
input:größe: 1 1 0 0 | 0 0 0 0 7 | 0 0 0
request: 1 1 0 0 | 0 0 0 0 0 | 0 0 0
training:step > forward: 10 10 0 0 | 10000 10 0 0 1000 | 0 0 0
training:step > training:loss: 10 10 0 320 | 1000 10 0 0 100 | 0 0 0
training:step: 10 10 0 0 | 0 0 0 0 1100 | 0 0 0
BOOKS
expect_eq "marks" "$(json profile.json '[.heapprof.scopes.marks[].name] | join(" ")')" "first step"
