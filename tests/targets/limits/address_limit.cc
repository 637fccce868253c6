// tests/targets/limits/address_limit.cc: limits its own address space after its start, and allocates until it is
// refused.
//
// usage: address_limit MIB      prints "THREADS BLOCKS SMALL": started threads, blocks of 1 MiB + 1, and of 1235 bytes
#include "../keep.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

KEEP_FRAME void* allocate_large() { return keep(malloc((1 << 20) + 1)); }
KEEP_FRAME void* allocate_small() { return keep(malloc(1235)); }

static size_t used_bytes() {
  FILE* file = fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  if (file == nullptr || fscanf(file, "%lu", &pages) != 1) exit(97);
  fclose(file);
  return pages * 4096;
}

static void* run_thread(void*) {
  allocate_small();
  return nullptr;
}

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  size_t limit_bytes = used_bytes() + (static_cast<size_t>(atoi(argv[1])) << 20);
  struct rlimit limit = {limit_bytes, limit_bytes};
  setrlimit(RLIMIT_AS, &limit);
  int threads = 0, large = 0, small = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, run_thread, nullptr) != 0) continue;
    pthread_join(thread, nullptr);
    ++threads;
  }
  static void* blocks[4096];
  while (large < 4096 && (blocks[large] = allocate_large()) != nullptr) ++large;
  for (int i = 0; i < large / 2; ++i) free(blocks[i]);
  while (small < 1000 && allocate_small() != nullptr) ++small;
  printf("%d %d %d\n", threads, large, small);
  return 0;
}
