# Whatever way a program goes to the CUDA driver, its allocations are seen, with their stacks, and nothing else changes.
numbers() {
  jq -r '.heapprof.devices[] | select(.name == "cuda:0") | .totals | [.total_bytes, .total_count, .leaked_bytes, .leaked_count] | join(" ")' profile.json
}
for route in dlsym default v1 v2 v2_stream later "v1 inner" "v2 inner" "later inner"; do
  unset FAKE_CUDA_INNER
  [ "${route#* }" != inner ] || export FAKE_CUDA_INNER=1
  profile "$TARGETS/cuda_routes" "${route% inner}"
  expect_eq "exit status by $route" "$status" 0
  expect_complete
  expect_eq "by $route" "$(numbers)" "123500 100 61750 50"
  jq -e '.ftbl as $frames | .heapprof.devices[] | select(.name == "cuda:0") | .pps[0].fs | map($frames[.]) | any(contains("use("))' profile.json >/dev/null ||
    fail "by $route: no stack through the program"
done
unset FAKE_CUDA_INNER
profile "$TARGETS/cuda_linked"
expect_eq "exit status, linked" "$status" 0
expect_eq "linked" "$(numbers)" "123500 100 61750 50"
for route in absent local old newer; do
  "$TARGETS/cuda_routes" $route || fail "$route, without heapprof: $?"
  profile "$TARGETS/cuda_routes" $route
  expect_eq "exit status, $route" "$status" 0
  expect_eq "devices, $route" "$(jq '.heapprof.devices | length' profile.json)" 1
  unknown=$(jq -r '.heapprof.coverage.unknown_functions | join(" ")' profile.json)
  expect_eq "functions that nobody knows, $route" "$unknown" "$([ $route != newer ] || echo "cuMemAlloc of CUDA 14.0")"
  [ $route != newer ] || expect_in err.txt "cuMemAlloc of CUDA 14.0: what that gives out is not counted [HP113]"
done

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

# Another library that stands before the driver, as quota tools do, goes on working, however it finds the driver: it gets the
# driver, not us and not itself, and each allocation is counted once.
have gcc || exit 0
cat >quota.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
static int calls;
static int (*real)(uint64_t*, size_t);
static void find(void) {
  if (!real) real = (int (*)(uint64_t*, size_t))dlsym(BY_HANDLE ? dlopen("libcuda.so.1", RTLD_NOW) : RTLD_NEXT, "cuMemAlloc_v2");
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  find();
  ++calls;
  return real == 0 || real == cuMemAlloc_v2 ? 999 : real(address, bytes);
}
__attribute__((constructor)) static void start(void) { if (EAGER) find(); }
__attribute__((destructor)) static void report(void) { if (calls) printf("%d\n", calls); }
C
for how in "0 0" "1 0" "1 1"; do
  gcc -shared -fPIC -DBY_HANDLE=${how% *} -DEAGER=${how#* } -o quota.so quota.c -ldl
  LD_PRELOAD="$PWD/quota.so" LD_LIBRARY_PATH="$BUILD/tests/fake_cuda" profile "$TARGETS/cuda_linked"
  expect_eq "exit status with another preload ($how)" "$status" 0
  expect_eq "calls that the other preload saw ($how)" "$(cat out.txt)" 100
  expect_eq "with another preload ($how)" "$(numbers)" "123500 100 61750 50"
done
