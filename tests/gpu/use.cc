// tests/gpu/use.cc: holds 512 MiB of the first device for two seconds, in which NVML is asked what is in use.
//
// usage: use        prints the bytes that are held
#include "find_driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main() {
  constexpr size_t kBytes = 512 << 20;
  use_first_device();
  uint64_t block = 0;
  CHECK(find<int(uint64_t*, size_t)>("cuMemAlloc_v2")(&block, kBytes));
  sleep(2);
  printf("%zu\n", kBytes);
  fflush(stdout);
  _Exit(0);
}
