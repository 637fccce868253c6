// tests/targets/malloc/shared_books.cc: functions named as mimalloc's that count their blocks in memory which is shared
// with other processes, and mapped before any constructor runs.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace {

long* g_count;

void map_count(int, char**, char**) {
  g_count =
      static_cast<long*>(mmap(nullptr, sizeof *g_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const g_first)(int, char**, char**) = map_count;

}  // namespace

extern "C" {
[[gnu::noinline]] void* mi_malloc(size_t size) {
  ++*g_count;
  return std::malloc(size);
}
[[gnu::noinline]] void mi_free(void* block) {
  --*g_count;
  std::free(block);
}
}

int main() {
  void* const block = mi_malloc(1235);
  std::printf("%ld\n", *g_count);
  mi_free(block);
  std::printf("%ld\n", *g_count);
  return 0;
}
