// tests/targets/malloc/own_malloc.cc: a program with a malloc of its own, and only the least of its family. Exit
// status: the number of its own blocks that it saw freed; 0 if there is an argument.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace {
alignas(16) char g_pool[1 << 20];
size_t g_used = 0;
int g_freed = 0;

bool is_own(const void* block) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(block);
  const uintptr_t start = reinterpret_cast<uintptr_t>(g_pool);
  return address >= start && address < start + sizeof g_pool;
}
}  // namespace

#pragma GCC visibility push(default)
extern "C" {
void* malloc(size_t size) {
  void* block = g_pool + g_used;
  g_used += (size + 15) & ~size_t{15};
  return block;
}
void free(void* block) {
  if (is_own(block)) ++g_freed;
}
void* calloc(size_t count, size_t size) { return memset(malloc(count * size), 0, count * size); }
void* realloc(void* block, size_t size) {
  void* bigger = malloc(size);
  if (block != nullptr) memcpy(bigger, block, size);
  return bigger;
}
}
#pragma GCC visibility pop

int main(int argc, char**) {
  const int before = g_freed;  // the loader and libc may have freed some
  for (int i = 0; i < 7; ++i) {
    void* volatile block = malloc(1235);
    free(block);
  }
  return argc > 1 ? 0 : g_freed - before;
}
