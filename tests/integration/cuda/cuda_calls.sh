# Calls of the CUDA driver that take the host's time: each goes through with its arguments, and is counted with its
# stack.
"$TARGETS/cuda_calls" || fail "without heapprof: $?"
profile "$TARGETS/cuda_calls"
expect_eq "exit status" "$status" 0
expect_complete
sum() { jq -r --arg call "$1" '[.heapprof.device_api.calls[] | select(.call == $call) | .'"$2"'] | add' profile.json; }
expect_eq "kernels: 6 entry points, twice, and 100,000" "$(jq .heapprof.device_api.kernel_launches_count profile.json)" 100012
expect_eq "allocations" "$(sum allocate calls_count) $(sum allocate size_bytes)" "500 $((500 << 20))"
expect_eq "frees" "$(sum free calls_count)" 500
expect_eq "copies to the device: 8 entry points, twice, and 1,000" "$(sum "copy to device" calls_count)" 1016
expect_eq "copies in batches" "$(jq -r '.ftbl as $f | [.heapprof.device_api.calls[] | select(.call == "copy" and ([.fs[] | $f[.]] | any(contains("copy_in_batches"))))] |
  "\([.[].calls_count] | add) \([.[].size_bytes] | add)"' profile.json)" "20 $((10 * (321 + 150)))"
expect_eq "waits for a stream" "$(sum "synchronize stream" calls_count)" 4
[ "$(sum "synchronize stream" duration_ns)" -ge 800000 ] || fail "four waits of 200 µs: $(sum "synchronize stream" duration_ns) ns"
jq -e '.ftbl as $f | .heapprof.device_api.calls[] | select(.call == "allocate") | [.fs[] | $f[.]] | any(contains("churn("))' profile.json >/dev/null ||
  fail "no stack through the program"
expect_eq "by thread" "$(jq -r '[.heapprof.device_api.threads[] | select(.call == "allocate") | .calls_count] | add' profile.json)" 500
"$HEAPPROF_BIN" report --color never profile.json >report.txt
expect_in report.txt "GPU CALLS"
expect_in report.txt "100,012 kernels launched"
expect_in report.txt "499 allocations were of device memory that had been there before"
grep "500 × allocate" report.txt | grep -q churn || fail "$(cat report.txt)"
"$HEAPPROF_BIN" report --format json profile.json >report.json
expect_eq "in JSON" "$(jq -r '[.device_api.kernel_launches_count, ([.device_api.calls[] | select(.call == "allocate" and (.function | test("churn"))) | .calls_count] | add),
  ([.device_api.threads[] | select(.call == "allocate") | .calls_count] | add)] | join(" ")' report.json)" "100012 500 500"
"$HEAPPROF_BIN" report --color never --device cuda:0 profile.json >report.txt
expect_not_in report.txt "GPU CALLS"
"$HEAPPROF_BIN" export --format dhat --device cuda:0 -o one.json profile.json || fail "export: $?"
expect_eq "calls of all devices in a file of one" "$(jq '.heapprof.device_api' one.json)" null
# What is written reads back: the sum of two such profiles is twice as much.
cp profile.json again.json
"$HEAPPROF_BIN" merge -o sum.json profile.json again.json 2>/dev/null || fail "merge: $?"
expect_eq "merged" "$(jq '[.heapprof.device_api.kernel_launches_count, ([.heapprof.device_api.calls[] | select(.call == "allocate") | .calls_count] | add)] | join(" ")' -r sum.json)" "200024 1000"

# What is allocated again and again costs what that costs, whatever others cost.
cat >slow.cc <<'CC'
#include "tests/fake_cuda/fake_cuda.h"
#include <thread>
[[gnu::noinline]] CUdeviceptr workspace(size_t bytes) {
  CUdeviceptr block = 0;
  cuMemAlloc_v2(&block, bytes);
  asm volatile("" ::: "memory");
  return block;
}
[[gnu::noinline]] void load() {
  for (int i = 0; i < 10; ++i) {
    fake_cuda_slow_next("cuMemAlloc_v2", 50'000);
    CUdeviceptr kept = 0;
    cuMemAlloc_v2(&kept, 1000);
  }
  asm volatile("" ::: "memory");
}
int main() {
  CUcontext context = nullptr;
  cuCtxCreate_v2(&context, 0, 0);
  load();
  for (int i = 0; i < 200; ++i) cuMemFree_v2(workspace(5000));
  std::thread([] {
    fake_cuda_slow_next("cuCtxSynchronize", 1'200'000);
    cuCtxSynchronize();
    for (int i = 0; i < 6; ++i) cuCtxSynchronize();
  }).join();
}
CC
if have c++; then
  c++ -std=c++20 -g -O1 -pthread -I"$SOURCE" slow.cc -o slow -L"$BUILD/tests/fake_cuda" -lcuda -Wl,-rpath,"$BUILD/tests/fake_cuda" 2>cc.txt ||
    fail "c++: $(cat cc.txt)"
  profile ./slow
  "$HEAPPROF_BIN" report --color never profile.json >report.txt
  grep -qE '^199 allocations were of device memory that had been there before: about [0-9.]+ (µs|ns|ms) ' report.txt || fail "$(cat report.txt)"
  # Without the time stamp counter, times are those at which the collector came by.
  [ "$(jq -r .heapprof.coverage.clock profile.json)" = sequence ] ||
    ! grep -E '^199 allocations were' report.txt | grep -qE ' [0-9]{2,} ms ' || fail "$(cat report.txt)"
  grep -qE '^ +199 × +[0-9.]+ (µs|ms) +workspace ' report.txt || fail "$(cat report.txt)"
  grep -qE ' 10 × allocate .* load ' report.txt || fail "$(cat report.txt)"
  grep -qE ' 200 × allocate .* workspace ' report.txt || fail "$(cat report.txt)"
  # 10 allocations of 50 ms in one thread, a wait of 1.2 s in the other.
  grep -qE '^by thread: [0-9]+ [0-9.]+ %, [0-9]+ [0-9.]+ %$' report.txt || fail "$(cat report.txt)"
  expect_eq "who waited most" "$(awk '/^by thread/ { print $3 != "'"$(jq .heapprof.run.pid profile.json)"'" }' report.txt)" 1
else
  not_tried "what is allocated again by its own cost, and shares of threads: no c++"
fi
