// tests/targets/stacks/python/take.c: a block of the heap, for Python to ask for by ctypes.
#include <stdlib.h>

__attribute__((noinline, visibility("default"))) void* heapprof_test_take(size_t size_bytes) {
  void* const block = malloc(size_bytes);
  __asm__ volatile("" ::: "memory");  // no tail call: this function is to be in the stack
  return block;
}

__attribute__((visibility("default"))) void heapprof_test_give(void* block) { free(block); }
