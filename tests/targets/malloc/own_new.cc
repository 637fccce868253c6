// tests/targets/malloc/own_new.cc: replaces operator new by one of its own that counts and calls malloc.
#include "../keep.h"

#include <new>
#include <string>
#include <vector>

static size_t g_calls;

KEEP_FRAME void* operator new(size_t size_bytes) {
  ++g_calls;
  void* block = keep(malloc(size_bytes));
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept { free(block); }
void operator delete(void* block, size_t) noexcept { free(block); }

KEEP_FRAME void use_new() {
  for (int i = 0; i < 6; ++i) keep(::operator new(1235));
  std::vector<std::string> words(3, std::string(1237, 'x'));
  keep(&words);
}

int main() {
  use_new();
  return g_calls == 6 + 1 + 4 ? 0 : 97;
}
