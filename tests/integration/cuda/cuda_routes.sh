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
# A driver that has its functions in another library.
for route in dlsym v1 v2 v2_stream later; do
  FAKE_CUDA_DRIVER=$BUILD/tests/fake_cuda/libcuda.so.1 LD_LIBRARY_PATH=$BUILD/tests/fake_shim profile "$TARGETS/cuda_routes" "$route"
  expect_eq "exit status by $route, in another library" "$status" 0
  expect_eq "by $route, in another library" "$(numbers)" "123500 100 61750 50"
done
# Functions of the same names that a library has for itself are no driver's.
if have cc; then
  echo 'int cuMemAlloc_v2(unsigned long* a, unsigned long n) { return 999; } int cuMemFree_v2(unsigned long a) { return 999; }
    int cudaMalloc(void** a, unsigned long n) { return 999; } int cuCtxGetDevice(int* d) { return 999; }
    int getpid(void); int versions(void) { return getpid(); }' >stub.c  # of libc it needs a version, as all do
  cc -shared -fPIC stub.c -o stub.so || fail "cc: $?"
  for route in dlsym v1 v2 v2_stream; do
    profile "$TARGETS/cuda_routes" "$route" ./stub.so
    expect_eq "exit status by $route, with a stub" "$status" 0
    expect_eq "by $route, with a stub" "$(numbers)" "123500 100 61750 50"
  done
  # What RTLD_DEFAULT finds in the caller's own scope, which is no global one; and what it finds nowhere.
  cat >scoped.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
int cuCtxCreate_v2(void** context, unsigned flags, int device);
int use(void) {
  void* context;
  unsigned long block;
  int (*allocate)(unsigned long*, size_t) = (int (*)(unsigned long*, size_t))dlsym(RTLD_DEFAULT, "cuMemAlloc_v2");
  if (allocate == NULL || dlerror() != NULL || cuCtxCreate_v2(&context, 0, 0) != 0 || allocate(&block, 777) != 0) return 1;
  return dlsym(RTLD_DEFAULT, "cuMemHostRegister") == NULL && dlerror() != NULL && dlerror() == NULL ? 0 : 2;
}
C
  cat >scope.c <<'C'
#include <dlfcn.h>
int main(void) {
  void* library = dlopen("./scoped.so", RTLD_NOW | RTLD_LOCAL);
  if (library == 0 || dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") != 0) return 9;
  return ((int (*)(void))dlsym(library, "use"))();
}
C
  cc -shared -fPIC scoped.c -o scoped.so -L"$BUILD/tests/fake_cuda" -lcuda -Wl,-rpath,"$BUILD/tests/fake_cuda" || fail "cc: $?"
  cc scope.c -o scope || fail "cc: $?"
  ./scope || fail "without heapprof: $?"
  profile ./scope
  expect_eq "exit status, in the caller's scope" "$status" 0
  expect_eq "in the caller's scope" "$(numbers)" "777 1 777 1"
  # The runtime that a library was linked with, beside another's function of the same name without a version.
  cat >linked.c <<'C'
#include <stddef.h>
int cudaMalloc(void** block, size_t bytes);
int use(void) {
  void* block;
  return cudaMalloc(&block, 777);
}
C
  cat >beside.c <<'C'
#include <dlfcn.h>
int main(void) {
  if (dlopen("./stub.so", RTLD_NOW | RTLD_LOCAL) == 0) return 8;
  void* library = dlopen("./linked.so", RTLD_NOW | RTLD_LOCAL);
  return library == 0 ? 9 : ((int (*)(void))dlsym(library, "use"))();
}
C
  cc -shared -fPIC linked.c -o linked.so -L"$BUILD/tests/fake_cuda" -lcudart -Wl,-rpath,"$BUILD/tests/fake_cuda" || fail "cc: $?"
  cc beside.c -o beside || fail "cc: $?"
  ./beside || fail "without heapprof: $?"
  profile ./beside
  expect_eq "exit status, a runtime beside a stub" "$status" 0
  expect_eq "a runtime beside a stub" "$(numbers)" "777 1 777 1"
else
  not_tried "stubs of the driver and the runtime, and the caller's scope: no cc"
fi
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
profile "$PYTHON" use.py "$BUILD/tests/fake_cuda/libcuda.so.1"
expect_eq "exit status by ctypes" "$status" 0
expect_eq "by ctypes" "$(numbers)" "123500 100 61750 50"

# Another library that stands before the driver, as quota tools do, goes on working, however it finds the driver: it
# gets the driver, not us and not itself, and each allocation is counted once.
have gcc || { not_tried "libraries that stand before the driver: no gcc"; exit 0; }
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
cat >passing.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
static int calls;
int cuGetProcAddress_v2(const char* name, void** found, int version, uint64_t flags, int* status) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*real)(const char*, void**, int, uint64_t, int*) = (int (*)(const char*, void**, int, uint64_t, int*))dlsym(driver, "cuGetProcAddress_v2");
  return real(name, found, version, flags, status);
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  int (*real)(uint64_t*, size_t) = 0;
  if (++calls > 1000) return 999;
  cuGetProcAddress_v2("cuMemAlloc", (void**)&real, 12000, 0, 0);
  return real(address, bytes);
}
__attribute__((destructor)) static void report(void) { if (calls) printf("%d\n", calls); }
C
gcc -shared -fPIC -o quota.so passing.c -ldl
LD_PRELOAD="$PWD/quota.so" LD_LIBRARY_PATH="$BUILD/tests/fake_cuda" profile "$TARGETS/cuda_linked"
expect_eq "exit status with a preload that looks itself up" "$status" 0
expect_eq "calls that the preload saw" "$(cat out.txt)" 100
for how in "0 0" "1 0" "1 1"; do
  gcc -shared -fPIC -DBY_HANDLE=${how% *} -DEAGER=${how#* } -o quota.so quota.c -ldl
  LD_PRELOAD="$PWD/quota.so" LD_LIBRARY_PATH="$BUILD/tests/fake_cuda" profile "$TARGETS/cuda_linked"
  expect_eq "exit status with another preload ($how)" "$status" 0
  expect_eq "calls that the other preload saw ($how)" "$(cat out.txt)" 100
  expect_eq "with another preload ($how)" "$(numbers)" "123500 100 61750 50"
done
