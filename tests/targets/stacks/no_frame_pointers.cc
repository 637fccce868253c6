// tests/targets/stacks/no_frame_pointers.cc: rbp is a number like any other here, and holds nonsense while malloc is
// called.
#include "../keep.h"

KEEP_FRAME void* innermost(size_t a, size_t b, size_t c, size_t d, size_t e, size_t f) {
  // Enough live values that rbp is one of them.
  size_t g = a * b, h = c * d, i = e * f, j = a + f, k = b ^ e, l = c | d, m = a - e;
  void* block = keep(malloc(1235));
  asm volatile("" ::"r"(g), "r"(h), "r"(i), "r"(j), "r"(k), "r"(l), "m"(m));
  return block;
}

KEEP_FRAME void* middle(size_t n) {
  char space[200];
  asm volatile("" ::"r"(space), "b"(n) : "memory");
  void* block = innermost(n, n + 1, n + 2, n + 3, n + 4, n + 5);
  return keep(block);
}

KEEP_FRAME void* outermost(size_t n) {
  void* block = middle(n * 3);
  return keep(block);
}

int main(int argc, char**) {
  for (size_t i = 0; i < 100; ++i) {
    void* block = outermost(i + static_cast<size_t>(argc));
    if (i % 2 == 0) free(block);
  }
  return 0;
}
