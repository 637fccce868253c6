// tests/targets/cuda/cuda_holdings.cc: pools that keep more than is in use, graphs with memory, memory that is locked
// where it lies; books of its own.
//
// usage: cuda_holdings        prints "pools DEVICE held most used most-used most-idle", "graphs DEVICE held most used
//                             most-used", and of registered memory: total bytes, registrations, peak, bytes that are
//                             left
//        cuda_holdings threads    four threads, two devices, a pool for each, which come and go: prints the same of
//                                 pools
#include "../keep.h"
#include "cuda_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr uint64_t kMiB = 1 << 20;
const auto kStream = reinterpret_cast<CUstream>(0x10);
const auto kOther = reinterpret_cast<CUstream>(0x20);

struct Amounts {
  uint64_t held = 0, most = 0, used = 0, most_used = 0, most_idle = 0;
};
Amounts pool_book[2];
Amounts graph_book[2];
std::vector<CUmemoryPool> all_pools[2];

uint64_t pool_says(CUmemoryPool pool, int attribute) {
  uint64_t value = 0;
  EXPECT(cuda.cuMemPoolGetAttribute(pool, attribute, &value) == kSuccess);
  return value;
}
// The driver's word after each step.
void look() {
  for (int device = 0; device < 2; ++device) {
    Amounts& book = pool_book[device];
    book.held = 0;
    for (CUmemoryPool pool : all_pools[device]) book.held += pool_says(pool, 5);
    book.most = std::max(book.most, book.held);
    book.most_used = std::max(book.most_used, book.used);
    book.most_idle = std::max(book.most_idle, book.held - book.used);
    uint64_t numbers[4];
    for (int i = 0; i < 4; ++i) EXPECT(cuda.cuDeviceGetGraphMemAttribute(device, i, &numbers[i]) == kSuccess);
    Amounts& graphs = graph_book[device];
    graphs = {numbers[2], std::max(graphs.most, numbers[2]), numbers[0], std::max(graphs.most_used, numbers[0]), 0};
  }
}

KEEP_FRAME CUdeviceptr allocate(uint64_t bytes, int device = 0, CUmemoryPool pool = nullptr) {
  CUdeviceptr address = 0;
  errno = kOwnErrno;
  EXPECT((pool == nullptr ? cuda.cuMemAllocAsync(&address, bytes, kStream)
                          : cuda.cuMemAllocFromPoolAsync(&address, bytes, pool, kStream)) == kSuccess);
  EXPECT(errno == kOwnErrno);
  pool_book[device].used += bytes;
  look();
  return address;
}
KEEP_FRAME void release(CUdeviceptr address, uint64_t bytes, int device = 0) {
  errno = kOwnErrno;
  EXPECT(cuda.cuMemFreeAsync(address, kStream) == kSuccess);
  EXPECT(errno == kOwnErrno);
  pool_book[device].used -= bytes;
  look();
}
void wait_for_stream() {
  errno = kOwnErrno;
  EXPECT(cuda.cuStreamSynchronize(kStream) == kSuccess);
  EXPECT(errno == kOwnErrno);
  look();
}

KEEP_FRAME void default_pool() {
  CUmemoryPool pool = nullptr;
  EXPECT(cuda.cuDeviceGetDefaultMemPool(&pool, 0) == kSuccess);
  all_pools[0].push_back(pool);
  const CUdeviceptr first = allocate(3 * kMiB);  // 4 MiB held
  const CUdeviceptr second = allocate(700'000);  // fits
  release(first, 3 * kMiB);
  wait_for_stream();  // back to 2 MiB
  release(second, 700'000);
  EXPECT(cuda.cuCtxSynchronize() == kSuccess);  // back to nothing
  look();
  EXPECT(pool_book[0].held == 0);
  // Kept from now on: what is freed stays.
  uint64_t threshold = UINT64_MAX / 2;
  EXPECT(cuda.cuMemPoolSetAttribute(pool, 4, &threshold) == kSuccess);
  CUdeviceptr blocks[10];
  for (CUdeviceptr& block : blocks) block = allocate(5 * kMiB);
  for (const CUdeviceptr block : blocks) release(block, 5 * kMiB);
  wait_for_stream();
  EXPECT(pool_book[0].held == 50 * kMiB);
  // Within what there is the driver is not asked each time: one question in ten allocations, or so.
  const long before = cuda.calls("cuMemPoolGetAttribute");
  const auto agent_before = before;
  for (int i = 0; i < 1000; ++i) {
    CUdeviceptr block = 0;
    EXPECT(cuda.cuMemAllocAsync(&block, kMiB, kStream) == kSuccess);
    EXPECT(cuda.cuMemFreeAsync(block, kStream) == kSuccess);
  }
  pool_book[0].most_used = std::max(pool_book[0].most_used, pool_book[0].used + kMiB);
  EXPECT(cuda.calls("cuMemPoolGetAttribute") - agent_before < 200);
  // It set back what was the most: we know it still.
  uint64_t none = 0;
  EXPECT(cuda.cuMemPoolSetAttribute(pool, 6, &none) == kSuccess);
  EXPECT(cuda.cuMemPoolTrimTo(pool, 8 * kMiB) == kSuccess);
  look();
  EXPECT(pool_book[0].held == 8 * kMiB);
}

KEEP_FRAME void own_pools() {
  const CudaProperties on_one{1, 0, 1, 1, nullptr, 0};
  CUmemoryPool first = nullptr, second = nullptr;
  EXPECT(cuda.cuMemPoolCreate(&first, &on_one) == kSuccess);
  EXPECT(cuda.cuMemPoolCreate(&second, &on_one) == kSuccess);
  all_pools[1] = {first, second};
  const CUdeviceptr a = allocate(10 * kMiB, 1, first);
  const CUdeviceptr b = allocate(20 * kMiB, 1, second);
  release(a, 10 * kMiB, 1);
  wait_for_stream();
  const CUdeviceptr c = allocate(6 * kMiB, 1, first);
  release(b, 20 * kMiB, 1);
  cuda.fail_next("cuMemPoolDestroy", kInvalidContext);
  EXPECT(cuda.cuMemPoolDestroy(second) == kInvalidContext);  // it lives
  look();
  EXPECT(cuda.cuMemPoolDestroy(second) == kSuccess);
  all_pools[1].pop_back();
  look();
  wait_for_stream();
  release(c, 6 * kMiB, 1);
  allocate(kMiB, 1, first);  // left
}

// A capture is not disturbed by questions about pools, whoever's wait or allocation they follow.
// A reset of the device ends no pool; one that is not used again is as it was, until it is destroyed.
KEEP_FRAME void reset() {
  CUmemoryPool pools[2] = {};
  const CudaProperties here{1, 0, 1, 1, nullptr, 0};
  uint64_t threshold = UINT64_MAX / 2;
  for (CUmemoryPool& pool : pools) {
    EXPECT(cuda.cuMemPoolCreate(&pool, &here) == kSuccess);
    EXPECT(cuda.cuMemPoolSetAttribute(pool, 4, &threshold) == kSuccess);
    all_pools[1].push_back(pool);
    release(allocate(9 * kMiB, 1, pool), 9 * kMiB, 1);
  }
  wait_for_stream();
  EXPECT(cuda.cuDevicePrimaryCtxReset_v2(1) == kSuccess);
  release(allocate(21 * kMiB, 1, pools[0]), 21 * kMiB, 1);  // with what the other holds
  wait_for_stream();
  for (const CUmemoryPool pool : pools) {
    EXPECT(cuda.cuMemPoolDestroy(pool) == kSuccess);
    all_pools[1].erase(std::find(all_pools[1].begin(), all_pools[1].end(), pool));
  }
  look();
}

KEEP_FRAME void captures() {
  void* graph = nullptr;
  void* executable = nullptr;
  EXPECT(cuda.cuStreamBeginCapture_v2(kOther, 0) == kSuccess);
  CUdeviceptr captured = 0;
  EXPECT(cuda.cuMemAllocAsync(&captured, 30 * kMiB, kOther) == kSuccess);
  CUdeviceptr plain = 0;
  EXPECT(cuda.cuMemAllocAsync(&plain, 64 * kMiB, kStream) == kSuccess);
  EXPECT(cuda.cuStreamSynchronize(kStream) == kSuccess);
  EXPECT(cuda.cuStreamEndCapture(kOther, &graph) == kSuccess);
  pool_book[0].used += 64 * kMiB;
  look();
  release(plain, 64 * kMiB);
  wait_for_stream();
  EXPECT(cuda.cuGraphInstantiateWithFlags(&executable, graph, 0) == kSuccess);
  look();
  EXPECT(graph_book[0].held == 0);
  EXPECT(cuda.cuGraphLaunch(executable, kStream) == kSuccess);
  look();
  EXPECT(graph_book[0].held == 30 * kMiB);
  const long before = cuda.calls("cuDeviceGetGraphMemAttribute");
  for (int i = 0; i < 1000; ++i) EXPECT(cuda.cuGraphLaunch(executable, kStream) == kSuccess);
  EXPECT(cuda.calls("cuDeviceGetGraphMemAttribute") - before < 10);
  EXPECT(cuda.cuMemFreeAsync(captured, kStream) == kSuccess);  // of a graph, freed outside of it
  look();
  EXPECT(graph_book[0].used == 0);
  wait_for_stream();
  EXPECT(cuda.cuGraphExecDestroy(executable) == kSuccess);
  look();
}

KEEP_FRAME void graph_nodes() {
  void* graph = nullptr;
  void* node = nullptr;
  void* executable = nullptr;
  EXPECT(cuda.cuGraphCreate(&graph, 0) == kSuccess);
  CudaAllocationNode parameters{};
  parameters.properties = {1, 0, 1, 1};
  parameters.size_bytes = 5 * kMiB;
  EXPECT(cuda.cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters) == kSuccess);
  CudaNode other{};
  other.type = 10;
  other.allocation.properties = {1, 0, 1, 1};
  other.allocation.size_bytes = 7 * kMiB + 5;
  EXPECT(cuda.cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &other) == kSuccess);
  CudaNode kernel{};
  EXPECT(cuda.cuGraphAddNode(&node, graph, nullptr, 0, &kernel) == kSuccess);
  cuda.fail_next("cuGraphAddMemAllocNode", kOutOfMemory);
  EXPECT(cuda.cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters) == kOutOfMemory);
  EXPECT(cuda.cuGraphInstantiateWithFlags(&executable, graph, 0) == kSuccess);
  EXPECT(cuda.cuGraphUpload(executable, kStream) == kSuccess);
  look();
  EXPECT(graph_book[1].used == 12 * kMiB + 5);
  uint64_t none = 0;
  EXPECT(cuda.cuDeviceSetGraphMemAttribute(1, 3, &none) == kSuccess);
  EXPECT(cuda.cuGraphExecDestroy(executable) == kSuccess);
  look();
  EXPECT(cuda.cuDeviceGraphMemTrim(1) == kSuccess);
  look();
  EXPECT(graph_book[1].held == 0);
}

KEEP_FRAME void registered() {
  static char memory[3 * kMiB];
  uint64_t total = 0, live = 0, peak = 0, count = 0;
  const auto add = [&](uint64_t bytes) { total += bytes, live += bytes, ++count, peak = std::max(peak, live); };
  EXPECT(cuda.cuMemHostRegister_v2(memory, kMiB, 0) == kSuccess);
  add(kMiB);
  EXPECT(cuda.cuMemHostRegister_v2(memory + 100, kMiB, 0) != kSuccess);  // it is already
  EXPECT(cuda.cuMemHostRegister_v2(memory + 2 * kMiB + 3, 12345, 0) == kSuccess);
  add(12345);
  cuda.fail_next("cuMemHostUnregister", kInvalidContext);
  EXPECT(cuda.cuMemHostUnregister(memory) == kInvalidContext);  // it is still
  EXPECT(cuda.cuMemHostUnregister(memory + 100) != kSuccess);   // never was
  EXPECT(cuda.cuMemHostUnregister(memory) == kSuccess);
  live -= kMiB;
  EXPECT(cuda.cuMemHostRegister_v2(nullptr, 0, 0) != kSuccess);
  printf("registered %lu %lu %lu %lu\n", total, count, peak, live);
}

// Each thread has its own pool, on one device or the other, and a new one now and then.
KEEP_FRAME void threads(CUcontext context) {
  std::mutex mutex;
  std::vector<std::thread> all;
  for (int number = 0; number < 4; ++number) {
    all.emplace_back([&, number] {
      cuda.cuCtxSetCurrent(context);
      const int device = number % 2;
      const CudaProperties properties{1, 0, 1, device, nullptr, 0};
      CUmemoryPool pool = nullptr;
      for (int round = 0; round < 50; ++round) {
        if (pool != nullptr) EXPECT(cuda.cuMemPoolDestroy(pool) == kSuccess);
        EXPECT(cuda.cuMemPoolCreate(&pool, &properties) == kSuccess);
        CUdeviceptr blocks[8];
        for (CUdeviceptr& block : blocks) cuda.cuMemAllocFromPoolAsync(&block, (number + 1) * kMiB, pool, kStream);
        for (CUdeviceptr& block : blocks) cuda.cuMemFreeAsync(block, kStream);
        cuda.cuStreamSynchronize(kStream);
      }
      CUdeviceptr left = 0;
      cuda.cuMemAllocFromPoolAsync(&left, (number + 1) * 3 * kMiB, pool, kStream);
      const std::lock_guard guard(mutex);
      all_pools[device].push_back(pool);
      pool_book[device].used += (number + 1) * 3 * kMiB;
    });
  }
  for (std::thread& thread : all) thread.join();
  CUdeviceptr block = 0;
  EXPECT(cuda.cuMemAllocAsync(&block, 1, kStream) == kSuccess);
  EXPECT(cuda.cuMemFreeAsync(block, kStream) == kSuccess);
  wait_for_stream();
}

}  // namespace

int main(int argc, char**) {
  if (!load_cuda()) return 90;
  CUcontext context = nullptr;
  EXPECT(cuda.cuCtxCreate_v2(&context, 0, 0) == kSuccess);
  if (argc > 1) {
    threads(context);
  } else {
    default_pool();
    own_pools();
    reset();
    captures();
    graph_nodes();
    registered();
  }
  for (int device = 0; device < 2; ++device) {
    const Amounts& pools = pool_book[device];
    const Amounts& graphs = graph_book[device];
    if (argc > 1) {
      printf("pools cuda:%d %lu %lu\n", device, pools.held, pools.used);
      continue;
    }
    printf("pools cuda:%d %lu %lu %lu %lu %lu\n", device, pools.held, pools.most, pools.used, pools.most_used,
           pools.most_idle);
    printf("graphs cuda:%d %lu %lu %lu %lu\n", device, graphs.held, graphs.most, graphs.used, graphs.most_used);
  }
  return failures == 0 ? 0 : 1;
}
