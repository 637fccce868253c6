// tests/targets/start/first_addresses.cc: prints what the heap is when main begins, and where its first 1,000 blocks
// lie. With --new they come from operator new, too; with --apart the addresses are counted from the first block on. On
// jemalloc, whose blocks lie as the kernel's pages do, it prints what the thread has allocated instead.
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <new>

extern "C" int mallctl(const char* name, void* old, size_t* old_bytes, void* fresh, size_t bytes) __attribute__((weak));

namespace {

constexpr int kBlocks = 1000;
constexpr intptr_t kMappedFrom = 0x7000'0000'0000;  // blocks of pages of their own may shift: the agent's lie there

void* g_blocks[kBlocks];
char g_text[80 * kBlocks];

}  // namespace

int main(int argc, char** argv) {
  const bool use_new = argc > 1 && strcmp(argv[1], "--new") == 0;
  const bool is_apart = argc > 1 && strcmp(argv[1], "--apart") == 0;
  if (mallctl != nullptr) {
    uint64_t counts[2] = {};
    size_t bytes = sizeof counts[0];
    if (mallctl("thread.allocated", &counts[0], &bytes, nullptr, 0) != 0) return 2;
    if (mallctl("thread.deallocated", &counts[1], &bytes, nullptr, 0) != 0) return 2;
    printf("allocated %ju, freed %ju\n", static_cast<uintmax_t>(counts[0]), static_cast<uintmax_t>(counts[1]));
    return 0;
  }
  const struct mallinfo2 before = mallinfo2();
  const void* end = sbrk(0);
  const auto first = is_apart ? reinterpret_cast<intptr_t>(malloc(1)) : 0;
  for (int i = 0; i < kBlocks; ++i) {
    const size_t size = static_cast<size_t>(i) * 37 % 3000 + 1;
    g_blocks[i] = use_new && i % 2 == 0 ? ::operator new(size) : malloc(size);
    if (i % 3 == 0) free(g_blocks[i / 2]), g_blocks[i / 2] = nullptr;
  }
  setvbuf(stdout, g_text, _IOFBF, sizeof g_text);
  printf("arena %zu, in use %zu, free %zu, fast bins %zu, top %zu, blocks %zu, mapped %zu\n", before.arena,
         before.uordblks, before.fordblks, before.fsmblks, before.keepcost, before.ordblks, before.hblkhd);
  printf("break %p\n", end);
  for (int i = 0; i < kBlocks; ++i) {
    const auto address = reinterpret_cast<intptr_t>(g_blocks[i]);
    if (is_apart || address < kMappedFrom) printf("%d %jd\n", i, static_cast<intmax_t>(address - first));
  }
  return 0;
}
