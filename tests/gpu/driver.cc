// tests/gpu/driver.cc: the driver's own interface: virtual memory, contexts, a refusal, and what a pair costs; books as
// in runtime.cu.
//
// usage: driver [pairs N]       N pairs of cuMemAlloc and cuMemFree: prints nanoseconds a pair
#include "find_driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

namespace {

struct Properties {
  uint32_t type, handle_types, location_type;
  int32_t location_id;
  void* windows;
  uint64_t flags;
};

double now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  auto* allocate = find<int(uint64_t*, size_t)>("cuMemAlloc_v2");
  auto* release = find<int(uint64_t)>("cuMemFree_v2");
  use_first_device();
  if (argc == 3 && strcmp(argv[1], "pairs") == 0) {
    const int pairs = atoi(argv[2]);
    const double start_ns = now_ns();
    for (int i = 0; i < pairs; ++i) {
      uint64_t address = 0;
      CHECK(allocate(&address, 1 << 20));
      CHECK(release(address));
    }
    printf("%.0f\n", (now_ns() - start_ns) / pairs);
    return 0;
  }
  long total = 0, count = 0, peak = 0, live = 0;
  const auto add = [&](long bytes) {
    total += bytes;
    ++count;
    live += bytes;
    if (live > peak) peak = live;
  };
  uint64_t block = 0;
  CHECK(allocate(&block, 123456));
  add(123456);
  // The mapping holds physical memory whose handle was released.
  const size_t piece = 32 << 20;
  const Properties on_device{1, 0, 1, 0, nullptr, 0};
  uint64_t handle = 0, range = 0;
  CHECK(find<int(uint64_t*, size_t, size_t, uint64_t, unsigned long long)>("cuMemAddressReserve")(&range, piece, 0, 0,
                                                                                                  0));
  CHECK(find<int(uint64_t*, size_t, const Properties*, unsigned long long)>("cuMemCreate")(&handle, piece, &on_device,
                                                                                           0));
  add(static_cast<long>(piece));
  CHECK(find<int(uint64_t, size_t, size_t, uint64_t, unsigned long long)>("cuMemMap")(range, piece, 0, handle, 0));
  CHECK(find<int(uint64_t)>("cuMemRelease")(handle));
  size_t free_bytes = 0, all_bytes = 0;
  CHECK(find<int(size_t*, size_t*)>("cuMemGetInfo_v2")(&free_bytes, &all_bytes));
  printf("# %zu of %zu bytes are free\n", free_bytes, all_bytes);
  uint64_t refused = 0;
  if (allocate(&refused, all_bytes + (1 << 20)) != 2) return 4;  // more than there is
  CHECK(find<int(uint64_t, size_t)>("cuMemUnmap")(range, piece));
  live -= static_cast<long>(piece);
  CHECK(release(block));
  live -= 123456;
  CHECK(allocate(&block, 777));
  add(777);
  printf("cuda:0 %ld %ld %ld %ld\n", total, count, peak, live);
  fflush(stdout);
  _Exit(0);
}
