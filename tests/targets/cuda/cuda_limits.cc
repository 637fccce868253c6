// tests/targets/cuda/cuda_limits.cc: asks for more device memory than there is, in every way, and checks what is left.
//
// usage: cuda_limits MIB [all]      of cuda:0, as the driver says or `heapprof run --limit cuda:0=…`; cuda:1 has 1 GiB
//        all: in ways which the fake driver itself does not refuse
#include "../keep.h"
#include "cuda_client.h"

#include <stdio.h>
#include <stdlib.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

constexpr size_t kMiB = 1 << 20;
size_t limit = 0;

size_t free_now() {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  EXPECT(cuda.cuMemGetInfo_v2(&free_bytes, &total_bytes) == kSuccess);
  EXPECT(total_bytes == limit);
  return free_bytes;
}

KEEP_FRAME CUdeviceptr hold_weights(size_t bytes) {
  CUdeviceptr address = 0;
  EXPECT(cuda.cuMemAlloc_v2(&address, bytes) == kSuccess);
  return address;
}

// Exactly to the limit, and not a byte further.
KEEP_FRAME void ask_for_too_much() {
  const CUdeviceptr weights = hold_weights(limit - 10 * kMiB);
  EXPECT(free_now() == 10 * kMiB);
  CUdeviceptr address = 77;
  EXPECT(cuda.cuMemAlloc_v2(&address, 10 * kMiB + 1) == kOutOfMemory);
  EXPECT(address == 77);
  EXPECT(cuda.cuMemAlloc_v2(&address, 10 * kMiB) == kSuccess);
  EXPECT(free_now() == 0);
  EXPECT(cuda.cuMemFree_v2(address) == kSuccess);
  EXPECT(free_now() == 10 * kMiB);
  EXPECT(cuda.cuMemFree_v2(weights) == kSuccess);
  EXPECT(free_now() == limit);
}

KEEP_FRAME void other_ways() {
  CUdeviceptr address = 0;
  size_t pitch = 0;
  EXPECT(cuda.cuMemAllocPitch_v2(&address, &pitch, limit / 4, 5, 4) == kOutOfMemory);
  address = pitch = 77;
  EXPECT(cuda.cuMemAllocPitch_v2(&address, &pitch, 1000, limit / 1000, 4) == kOutOfMemory);  // with its padding
  EXPECT(address == 77 && pitch == 77);
  EXPECT(cuda.cuMemAllocPitch_v2(&address, &pitch, 1000, 10, 4) == kSuccess);
  EXPECT(free_now() == limit - pitch * 10);
  EXPECT(cuda.cuMemFree_v2(address) == kSuccess);
  EXPECT(cuda.cuMemAllocAsync(&address, limit + 1, nullptr) == kOutOfMemory);
  EXPECT(cuda.cuMemAllocAsync(&address, limit, nullptr) == kSuccess);
  EXPECT(cuda.cuMemFreeAsync(address, nullptr) == kSuccess);
  const CudaArray3dDescriptor huge{1 << 14, 1 << 14, 64, 0x20, 4, 0};  // 256 GiB
  CUarray array = nullptr;
  EXPECT(cuda.cuArray3DCreate_v2(&array, &huge) == kOutOfMemory);
  EXPECT(free_now() == limit);
  EXPECT(cuda.cuMemAllocFromPoolAsync(&address, 2 * kMiB, nullptr, nullptr) == kSuccess);  // of cuda:1
  EXPECT(free_now() == limit);
  EXPECT(cuda.cuMemFree_v2(address) == kSuccess);
  const CudaProperties on_host{1, 0, 2, 0, nullptr, 0};
  CUmemoryPool pool = nullptr;
  EXPECT(cuda.cuMemPoolCreate(&pool, &on_host) == kSuccess);
  for (int i = 0; i < 2; ++i) {  // unknown, and known
    EXPECT(cuda.cuMemAllocFromPoolAsync(&address, 2 * limit, pool, nullptr) == kSuccess);
    EXPECT(free_now() == limit);
    EXPECT(cuda.cuMemFreeAsync(address, nullptr) == kSuccess);
  }
  const CudaProperties here{1, 0, 1, 0, nullptr, 0};
  CUmemoryPool own = nullptr;
  EXPECT(cuda.cuMemPoolCreate(&own, &here) == kSuccess);
  for (int i = 0; i < 2; ++i) {
    EXPECT(cuda.cuMemAllocFromPoolAsync(&address, limit + 1, own, nullptr) == kOutOfMemory);
    EXPECT(cuda.cuMemAllocFromPoolAsync(&address, limit, own, nullptr) == kSuccess);
    EXPECT(cuda.cuMemFreeAsync(address, nullptr) == kSuccess);
  }
  // On a stream of another device, which has no limit; and of a stream of which the driver says no device.
  CUcontext here_context = nullptr;
  CUcontext there = nullptr;
  CUstream stream = nullptr;
  EXPECT(cuda.cuCtxGetCurrent(&here_context) == kSuccess);
  EXPECT(cuda.cuCtxCreate_v2(&there, 0, 1) == kSuccess);
  EXPECT(cuda.cuStreamCreate(&stream, 0) == kSuccess);
  EXPECT(cuda.cuCtxSetCurrent(here_context) == kSuccess);
  EXPECT(cuda.cuMemAllocAsync(&address, limit + kMiB, stream) == kSuccess);
  EXPECT(free_now() == limit);
  EXPECT(cuda.cuMemFreeAsync(address, stream) == kSuccess);
  const auto unknown = reinterpret_cast<CUstream>(0x7777700);
  address = 77;
  EXPECT(cuda.cuMemAllocAsync(&address, limit + 1, unknown) == kOutOfMemory);
  EXPECT(address == 77);
  EXPECT(cuda.cuMemAllocAsync(&address, limit, unknown) == kSuccess);
  EXPECT(free_now() == 0);
  EXPECT(cuda.cuMemFreeAsync(address, unknown) == kSuccess);
  EXPECT(cuda.cuMemAllocAsync(&address, 1024 * kMiB + 1, stream) == kOutOfMemory);  // the driver's own, of cuda:1
  EXPECT(cuda.cuCtxDestroy_v2(there) == kSuccess);
  EXPECT(cuda.cuCtxSetCurrent(here_context) == kSuccess);
  CUdeviceptr managed = 0;
  EXPECT(cuda.cuMemAllocManaged(&managed, 3 * kMiB, 1) == kSuccess);  // no device's
  EXPECT(cuda.cuMemFree_v2(managed) == kSuccess);
}

KEEP_FRAME void virtual_memory() {
  const CudaProperties here{1, 0, 1, 0, nullptr, 0};
  CUhandle handle = 0;
  EXPECT(cuda.cuMemCreate(&handle, limit + kMiB, &here, 0) == kOutOfMemory);
  EXPECT(cuda.cuMemCreate(&handle, limit, &here, 0) == kSuccess);
  CUdeviceptr range = 0;
  EXPECT(cuda.cuMemAddressReserve(&range, limit, 0, 0, 0) == kSuccess);
  EXPECT(cuda.cuMemMap(range, limit, 0, handle, 0) == kSuccess);
  EXPECT(cuda.cuMemRelease(handle) == kSuccess);
  CUdeviceptr address = 0;
  EXPECT(cuda.cuMemAlloc_v2(&address, 1) == kOutOfMemory);  // the mapping holds it
  cuda.fail_next("cuMemUnmap", kInvalidContext);
  EXPECT(cuda.cuMemUnmap(range, limit) == kInvalidContext);
  EXPECT(cuda.cuMemAlloc_v2(&address, 1) == kOutOfMemory);  // and still
  EXPECT(cuda.cuMemUnmap(range, limit) == kSuccess);
  EXPECT(cuda.cuMemAlloc_v2(&address, 1) == kSuccess);
  EXPECT(cuda.cuMemFree_v2(address) == kSuccess);
}

// More handles and mappings than the first table of the agent holds.
KEEP_FRAME void many_mappings() {
  constexpr size_t kPieces = 1500;
  const size_t piece = limit / kPieces;
  const CudaProperties here{1, 0, 1, 0, nullptr, 0};
  CUdeviceptr range = 0;
  EXPECT(cuda.cuMemAddressReserve(&range, limit, 0, 0, 0) == kSuccess);
  std::vector<CUhandle> handles(kPieces);
  for (CUhandle& handle : handles) EXPECT(cuda.cuMemCreate(&handle, piece, &here, 0) == kSuccess);
  for (size_t i = 0; i < kPieces; ++i) EXPECT(cuda.cuMemMap(range + i * piece, piece, 0, handles[i], 0) == kSuccess);
  cuda.fail_next("cuMemRelease", kInvalidValue);
  EXPECT(cuda.cuMemRelease(handles[0]) == kInvalidValue);  // still referred to
  for (const CUhandle handle : handles) EXPECT(cuda.cuMemRelease(handle) == kSuccess);
  EXPECT(free_now() == limit - kPieces * piece);
  EXPECT(cuda.cuMemUnmap(range, limit) == kSuccess);
  EXPECT(free_now() == limit);
}

KEEP_FRAME void failed_calls() {
  const CUdeviceptr block = hold_weights(limit - 5 * kMiB);
  cuda.fail_next("cuMemFree_v2", kInvalidContext);
  EXPECT(cuda.cuMemFree_v2(block) == kInvalidContext);  // still held
  CUdeviceptr address = 0;
  EXPECT(cuda.cuMemAlloc_v2(&address, 6 * kMiB) == kOutOfMemory);
  cuda.fail_next("cuMemAlloc_v2", kInvalidContext);
  EXPECT(cuda.cuMemAlloc_v2(&address, 5 * kMiB) == kInvalidContext);  // given back
  EXPECT(cuda.cuMemAlloc_v2(&address, 5 * kMiB) == kSuccess);
  EXPECT(cuda.cuMemFree_v2(address) == kSuccess);
  EXPECT(cuda.cuMemFree_v2(block) == kSuccess);
  EXPECT(free_now() == limit);
}

// A context that ends gives everything back that was allocated in it.
KEEP_FRAME void contexts(CUcontext main_context) {
  CUcontext other = nullptr;
  EXPECT(cuda.cuCtxCreate_v2(&other, 0, 0) == kSuccess);
  for (int i = 0; i < 3000; ++i) hold_weights(1000);
  const size_t before = free_now();
  cuda.fail_next("cuCtxDestroy_v2", kInvalidContext);
  EXPECT(cuda.cuCtxDestroy_v2(other) == kInvalidContext);
  EXPECT(free_now() == before);
  EXPECT(cuda.cuCtxDestroy_v2(other) == kSuccess);
  EXPECT(cuda.cuCtxSetCurrent(main_context) == kSuccess);
}

// Many threads at the edge: never more than the limit, and always some.
KEEP_FRAME void race(CUcontext main_context) {
  std::atomic<long> held{0};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  const long step = static_cast<long>(limit / 3);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, main_context] {
      cuda.cuCtxSetCurrent(main_context);
      for (int round = 0; round < 300; ++round) {
        CUdeviceptr address = 0;
        if (cuda.cuMemAlloc_v2(&address, static_cast<size_t>(step)) != kSuccess) continue;
        if (held.fetch_add(step) + step > static_cast<long>(limit)) is_over = true;
        held.fetch_sub(step);
        cuda.cuMemFree_v2(address);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT(!is_over);
  const CUdeviceptr all = hold_weights(limit);
  EXPECT(cuda.cuMemFree_v2(all) == kSuccess);
}

}  // namespace

int main(int argc, char** argv) {
  limit = (argc > 1 ? static_cast<size_t>(atol(argv[1])) : 1024) * kMiB;
  if (!load_cuda()) return 90;
  CUcontext context = nullptr;
  EXPECT(cuda.cuCtxCreate_v2(&context, 0, 0) == kSuccess);
  size_t total_bytes = 0;
  EXPECT(cuda.cuDeviceTotalMem_v2(&total_bytes, 0) == kSuccess);
  EXPECT(total_bytes == limit);
  EXPECT(cuda.cuDeviceTotalMem_v2(&total_bytes, 1) == kSuccess);
  EXPECT(total_bytes == 1024 * kMiB);
  ask_for_too_much();
  if (argc < 3) return failures == 0 ? 0 : 1;
  other_ways();
  virtual_memory();
  many_mappings();
  failed_calls();
  contexts(context);
  race(context);
  if (failures == 0) printf("as it should be\n");
  return failures == 0 ? 0 : 1;
}
