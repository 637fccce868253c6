# Whatever way a program goes to the CUDA driver, its allocations are seen, with their stacks, and nothing else changes.
numbers() {
  jq -r '.heapprof.devices[] | select(.name == "cuda:0") | .totals | [.total_bytes, .total_count, .leaked_bytes, .leaked_count] | join(" ")' profile.json
}
for route in dlsym default v1 v2 v2_stream; do
  profile "$TARGETS/cuda_routes" "$route"
  expect_eq "exit status by $route" "$status" 0
  expect_complete
  expect_eq "by $route" "$(numbers)" "123500 100 61750 50"
  jq -e '.ftbl as $frames | .heapprof.devices[] | select(.name == "cuda:0") | .pps[0].fs | map($frames[.]) | any(contains("use("))' profile.json >/dev/null ||
    fail "by $route: no stack through the program"
done
profile "$TARGETS/cuda_linked"
expect_eq "exit status, linked" "$status" 0
expect_eq "linked" "$(numbers)" "123500 100 61750 50"
profile "$TARGETS/cuda_routes" absent
expect_eq "exit status without a driver" "$status" 0
expect_eq "devices without a driver" "$(jq '.heapprof.devices | length' profile.json)" 1

# ctypes, as numba and Triton do it.
have python3 || exit 0
cat >use.py <<'PY'
import ctypes, sys
cuda = ctypes.CDLL(sys.argv[1])
context, block = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
for i in range(100):
    assert cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1235)) == 0
    if i % 2: assert cuda.cuMemFree_v2(block) == 0
PY
profile python3 use.py "$BUILD/tests/fake_cuda/libcuda.so.1"
expect_eq "exit status by ctypes" "$status" 0
expect_eq "by ctypes" "$(numbers)" "123500 100 61750 50"

# Another library that stands before the driver, as quota tools do, goes on working: it finds the driver, not us and not itself.
have gcc || exit 0
cat >quota.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
static int calls;
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  static int (*real)(uint64_t*, size_t);
  if (!real) real = (int (*)(uint64_t*, size_t))dlsym(RTLD_NEXT, "cuMemAlloc_v2");
  ++calls;
  return real == 0 || real == cuMemAlloc_v2 ? 999 : real(address, bytes);
}
__attribute__((destructor)) static void report(void) { printf("%d\n", calls); }
C
gcc -shared -fPIC -o quota.so quota.c -ldl
LD_PRELOAD="$PWD/quota.so" profile "$TARGETS/cuda_linked"
expect_eq "exit status with another preload" "$status" 0
expect_eq "calls that the other preload saw" "$(head -1 out.txt)" 100  # then those in heapprof itself
expect_eq "with another preload" "$(numbers)" "123500 100 61750 50"
