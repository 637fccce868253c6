# Programs as nvcc makes them, with the static and the shared runtime: every name that the runtime asks the driver for
# goes through us. (The fake driver does not pass the runtime's own test of its private tables, so cudaMalloc fails,
# with and without heapprof.)
nvcc=$(command -v nvcc || ls /usr/local/cuda*/bin/nvcc 2>/dev/null | head -1)
[ -n "$nvcc" ] || skip "no nvcc"
cat >program.cu <<'CU'
#include <cstdio>
int main() {
  void* block = nullptr;
  const cudaError_t error = cudaMalloc(&block, 1235);
  std::printf("%d\n", static_cast<int>(error));
  return 0;
}
CU
export LD_LIBRARY_PATH="$BUILD/tests/fake_cuda" FAKE_CUDA_REPORT="$PWD/report.txt"
for runtime in static shared; do
  "$nvcc" -cudart $runtime program.cu -o program-$runtime -Xlinker "-rpath=$(dirname "$nvcc")/../lib64" >nvcc.log 2>&1 || skip "nvcc cannot link here: $(tail -1 nvcc.log)"
  ./program-$runtime >plain.txt
  read -r plain_lookups by_agent <report.txt
  expect_eq "look-ups by the agent without heapprof, $runtime runtime" "$by_agent" 0
  profile ./program-$runtime
  expect_eq "exit status, $runtime runtime" "$status" 0
  cmp plain.txt out.txt || fail "the $runtime runtime came to another result: $(cat plain.txt out.txt)"
  read -r lookups by_agent <report.txt
  expect_eq "look-ups, $runtime runtime" "$lookups" "$plain_lookups"
  [ "$lookups" -gt 100 ] || fail "the $runtime runtime looked up $lookups names only"
  expect_eq "look-ups that went through the agent, $runtime runtime" "$by_agent" "$lookups"
done
