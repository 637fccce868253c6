# A shared CUDA runtime: what it gets from the driver is counted there, once; what it has from elsewhere is counted at
# its own functions, once, and said. A program that was not linked with one finds nothing of ours.
export LD_LIBRARY_PATH="$BUILD/tests/fake_cuda"
rows() { jq -r '.heapprof.devices[] | select(.name != "host" and .name != "mapped") | .name + " " + (.totals | [.total_bytes, .total_count, .peak_bytes, .leaked_bytes, .leaked_count] | map(tostring) | join(" "))' profile.json | sort; }
agent_frames() { jq '[.ftbl[] | select(test("libheapprof\\.so|hooks_cuda_runtime"))] | length' profile.json; }
said="counted at the CUDA runtime, which made no call of the driver"
for route in linked dlopen; do
  for kind in own driver; do
    export FAKE_CUDART=$kind
    "$TARGETS/cuda_runtime" $route >plain.txt || fail "without heapprof, $route, $kind: $?"
    "$HEAPPROF_BIN" run --color never -o profile.json -- "$TARGETS/cuda_runtime" $route >out.txt 2>err.txt || fail "$route, $kind: $? $(cat err.txt)"
    expect_complete
    cmp plain.txt out.txt || fail "the program's own books differ under heapprof, $route, $kind"
    expect_eq "books, $route, $kind" "$(rows)" "$(sort plain.txt)"
    counted=$(jq '[.heapprof.devices[].unseen.runtime_count // 0] | add' profile.json)
    if [ $kind = own ]; then
      expect_in err.txt "$said"
      expect_eq "counted at the runtime, $route" "$counted" "$(awk '{ sum += $3 } END { print sum }' plain.txt)"
    else
      expect_eq "counted at the runtime, $route, with driver calls" "$counted" 0
      ! grep -q "$said" err.txt || fail "$(cat err.txt)"
    fi
    expect_eq "places in the runtime, $route, $kind" "$("$HEAPPROF_BIN" report --format json profile.json |
      jq -c '[.devices[] | select(.name == "cuda:0" or .name == "pinned") | .places[].function // "" | select(test("cuda"))]')" "[]"
    expect_eq "frames of the agent in stacks, $route, $kind" "$(agent_frames)" 0
    jq -e '.ftbl as $f | .heapprof.devices[] | select(.name == "cuda:0") | .pps[] | [.fs[] | $f[.]] | select(any(contains("plain("))) | any(contains("device_memory("))' profile.json >/dev/null ||
      fail "no stack through the program, $route, $kind"
  done
done
"$HEAPPROF_BIN" report --color never profile.json >report.txt
! grep -q "$said" report.txt || fail "$(cat report.txt)"

# Pieces of what it got from the driver are no memory of their own.
FAKE_CUDART=pieces "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/cuda_runtime" linked >out.txt || fail "pieces: $?"
expect_eq "chunks of the driver's, no pieces" "$(jq -r '.heapprof.devices[] | select(.name == "cuda:0") | .totals | .total_bytes / .total_count' profile.json)" $((1 << 20))
expect_eq "other devices" "$(jq '[.heapprof.devices[] | select(.name == "pinned" or .name == "managed")] | length' profile.json)" 0

# A runtime inside the program is the program's.
FAKE_CUDART=driver "$TARGETS/cuda_runtime_static" >plain.txt || fail "static, without heapprof: $?"
FAKE_CUDART=driver profile "$TARGETS/cuda_runtime_static"
expect_eq "books, static" "$(rows)" "$(sort plain.txt)"
FAKE_CUDART=own profile "$TARGETS/cuda_runtime_static"
expect_eq "a replacement inside the program: not seen" "$(rows)" ""

# Nothing is there for a program without one.
have gcc || exit 0
cat >weak.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
__attribute__((weak)) int cudaMalloc(void** block, size_t bytes);
int main(void) {
  printf("%d %d\n", cudaMalloc != 0, dlsym(RTLD_DEFAULT, "cudaMalloc") != 0);
  return 0;
}
C
gcc -fPIE -pie -o weak weak.c -ldl
profile ./weak
expect_eq "a weak reference, and dlsym" "$(cat out.txt)" "0 0"
