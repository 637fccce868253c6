// tests/gpu/holdings.cc: a pool that keeps what is freed, a graph with memory of its own, and memory that is
// registered; prints what the driver says in the end, and what was registered.
//
// usage: holdings       prints "pools NAME held most", "graphs NAME held most used most-used", "registered total count
//                       peak left", lines that begin with #
#include "find_driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main() {
  auto* allocate = find<int(uint64_t*, size_t, void*)>("cuMemAllocAsync");
  auto* release = find<int(uint64_t, void*)>("cuMemFreeAsync");
  auto* wait = find<int(void*)>("cuStreamSynchronize");
  auto* ask_pool = find<int(void*, int, void*)>("cuMemPoolGetAttribute");
  auto* ask_graphs = find<int(int, int, void*)>("cuDeviceGetGraphMemAttribute");
  use_first_device();
  void* stream = nullptr;
  CHECK(find<int(void**, unsigned)>("cuStreamCreate")(&stream, 1));

  void* pool = nullptr;
  CHECK(find<int(void**, int)>("cuDeviceGetDefaultMemPool")(&pool, 0));
  uint64_t keep_all = UINT64_MAX;
  CHECK(find<int(void*, int, void*)>("cuMemPoolSetAttribute")(pool, 4, &keep_all));
  uint64_t blocks[20];
  for (int i = 0; i < 20; ++i) CHECK(allocate(&blocks[i], 12345678 + static_cast<size_t>(i), stream));
  for (int i = 0; i < 19; ++i) CHECK(release(blocks[i], stream));
  CHECK(wait(stream));
  uint64_t held = 0, most = 0;
  CHECK(ask_pool(pool, 5, &held));
  printf("# the pool holds %llu bytes, of which 12345697 are in use\n", static_cast<unsigned long long>(held));
  CHECK(find<int(void*, size_t)>("cuMemPoolTrimTo")(pool, 64 << 20));

  // A capture that asks for memory which outlives it; other threads' rules hold meanwhile, and ours must not break it.
  void* graph = nullptr;
  void* executable = nullptr;
  uint64_t captured = 0;
  CHECK(find<int(void*, int)>("cuStreamBeginCapture_v2")(stream, 0));
  CHECK(allocate(&captured, 30 << 20, stream));
  CHECK(find<int(void*, void**)>("cuStreamEndCapture")(stream, &graph));
  CHECK(find<int(void**, void*, unsigned long long)>("cuGraphInstantiateWithFlags")(&executable, graph, 0));
  CHECK(find<int(void*, void*)>("cuGraphLaunch")(executable, stream));
  CHECK(wait(stream));
  uint64_t used = 0;
  CHECK(ask_graphs(0, 0, &used));
  printf("# a launched graph uses %llu bytes\n", static_cast<unsigned long long>(used));
  CHECK(release(captured, stream));
  CHECK(wait(stream));

  const size_t size = 3 << 20;
  void* memory = aligned_alloc(4096, size);
  auto* lock = find<int(void*, size_t, unsigned)>("cuMemHostRegister_v2");
  auto* unlock = find<int(void*)>("cuMemHostUnregister");
  CHECK(lock(memory, size, 0));
  if (lock(memory, size, 0) == 0 || unlock(static_cast<char*>(memory) + 4096) == 0) return 4;
  CHECK(unlock(memory));
  CHECK(lock(memory, size / 2, 0));

  CHECK(ask_pool(pool, 5, &held));
  CHECK(ask_pool(pool, 6, &most));
  printf("pools cuda:0 %llu %llu\n", static_cast<unsigned long long>(held), static_cast<unsigned long long>(most));
  unsigned long long numbers[4];
  for (int i = 0; i < 4; ++i) CHECK(ask_graphs(0, i, &numbers[i]));
  printf("graphs cuda:0 %llu %llu %llu %llu\n", numbers[2], numbers[3], numbers[0], numbers[1]);
  printf("registered %zu 2 %zu %zu\n", size + size / 2, size, size / 2);
  fflush(stdout);
  _Exit(0);
}
