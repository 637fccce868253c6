# The checks for machines with a GPU, as far as the fake driver goes; and scripts/gpu-check where there is none.
have python3 && have c++ || skip "no python3 or no compiler"
export LD_LIBRARY_PATH="$BUILD/tests/fake_cuda" FAKE_CUDA_OVERHEAD=1 FAKE_NVML="$PWD/use"
"$PYTHON" "$SOURCE/tests/gpu/check.py" "$HEAPPROF_BIN" work --driver-only >table.txt 2>err.txt || fail "$? $(cat table.txt err.txt)"
[ "$(grep -c ' ok$' table.txt)" = 9 ] || fail "$(cat table.txt)"
grep -q "counted and estimated .*(+0)" table.txt || fail "$(cat table.txt)"
grep -q "by this process, .*: unattributed 67108864 " table.txt || fail "$(cat table.txt)"
unset LD_LIBRARY_PATH
"$PYTHON" -c 'import ctypes; assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0' 2>/dev/null && exit 0
"$SOURCE/scripts/gpu-check" "$HEAPPROF_BIN" >out.txt || fail "without a GPU: $?"
expect_in out.txt "skipped: no NVIDIA GPU"
