// tests/targets/malloc/allocators/maps.cc: much memory from the allocator, which maps it, and one mapping of its own.
// Compiled by integration/mapped/mappings_of_allocators.sh.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FRAME __attribute__((noinline))

static void* keep(void* block) {
  asm volatile("" : "+r"(block)::"memory");
  return block;
}

FRAME void* use_heap(void*) {
  void* blocks[200];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i) blocks[i] = memset(keep(malloc(1000 + i * 4000)), 1, 10);
    for (int i = 0; i < 200; ++i) blocks[i] = keep(realloc(blocks[i], 500'000));
    for (int i = 0; i < 200; ++i) free(blocks[i]);
  }
  return nullptr;
}

FRAME void use_pages() {
  void* pages = keep(mmap(nullptr, 123'000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (pages == MAP_FAILED) exit(97);
}

int main() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, use_heap, nullptr) != 0) return 98;
  use_heap(nullptr);
  pthread_join(thread, nullptr);
  use_pages();
  return 0;
}
