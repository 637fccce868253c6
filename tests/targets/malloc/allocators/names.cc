// tests/targets/malloc/allocators/names.cc: asks the allocator by its own names, and keeps books of it. Compiled by
// integration/malloc/allocator_names.sh, linked with an allocator or with none; for each function that there is, it
// prints "FUNCTION BYTES BLOCKS LEAKED_BYTES LEAKED_BLOCKS". What is not there is not called.
//
// With --found it prints which names are there, by a weak reference and by dlsym, and calls none.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>

#define FRAME __attribute__((noinline))
#define WEAK __attribute__((weak))

extern "C" {
WEAK void* __libc_malloc(size_t);
WEAK void* __libc_calloc(size_t, size_t);
WEAK void* __libc_memalign(size_t, size_t);
WEAK void* __libc_valloc(size_t);
WEAK void* __libc_pvalloc(size_t);
WEAK void* __libc_realloc(void*, size_t);
WEAK void __libc_free(void*);
WEAK void* mallocx(size_t, int);
WEAK void* rallocx(void*, size_t, int);
WEAK size_t xallocx(void*, size_t, size_t, int);
WEAK void dallocx(void*, int);
WEAK void sdallocx(void*, size_t, int);
WEAK void* tc_malloc(size_t);
WEAK void* tc_calloc(size_t, size_t);
WEAK void* tc_memalign(size_t, size_t);
WEAK int tc_posix_memalign(void**, size_t, size_t);
WEAK void* tc_valloc(size_t);
WEAK void* tc_realloc(void*, size_t);
WEAK void tc_free(void*);
WEAK void tc_free_sized(void*, size_t);
WEAK void tc_cfree(void*);
WEAK void* tc_new(size_t);
WEAK void* tc_newarray(size_t);
WEAK void tc_delete(void*);
WEAK void tc_deletearray_sized(void*, size_t);
WEAK void* mi_malloc(size_t);
WEAK void* mi_zalloc(size_t);
WEAK void* mi_calloc(size_t, size_t);
WEAK void* mi_malloc_aligned(size_t, size_t);
WEAK int mi_posix_memalign(void**, size_t, size_t);
WEAK void* mi_realloc(void*, size_t);
WEAK void* mi_recalloc(void*, size_t, size_t);
WEAK void* mi_reallocf(void*, size_t);
WEAK void* _aligned_malloc(size_t alignment, size_t);
WEAK void* mi_expand(void*, size_t);
WEAK void* mi_new(size_t);
WEAK void* mi_new_n(size_t, size_t);
WEAK char* mi_strdup(const char*);
WEAK void mi_free(void*);
WEAK void mi_cfree(void*);
WEAK void mi_free_size(void*, size_t);
WEAK void mi_free_size_aligned(void*, size_t, size_t);
WEAK void* mi_heap_new();
WEAK void* mi_heap_malloc(void*, size_t);
WEAK void* mi_heap_zalloc_aligned(void*, size_t, size_t);
WEAK void* mi_heap_realloc(void*, void*, size_t);
WEAK char* mi_heap_strdup(void*, const char*);
WEAK void mi_heap_delete(void*);
WEAK void mi_heap_destroy(void*);
}

namespace {

constexpr int kBlocks = 10;
constexpr size_t kSize = 1235;

struct Book {
  size_t bytes = 0;
  size_t blocks = 0;
  size_t live_bytes = 0;
  size_t live_blocks = 0;

  void begin(size_t size) { bytes += size, ++blocks, live_bytes += size, ++live_blocks; }
  void end(size_t size) { live_bytes -= size, --live_blocks; }
  void print(const char* function) const {
    printf("%s %zu %zu %zu %zu\n", function, bytes, blocks, live_bytes, live_blocks);
  }
};

void* keep(void* block) {
  if (block == nullptr) exit(97);
  asm volatile("" : "+r"(block)::"memory");
  memset(block, 1, 16);
  return block;
}

// Ten blocks, five of which are freed by the same function.
#define BLOCKS(function, allocate, release)                           \
  FRAME void function() {                                             \
    if (release == nullptr) return;                                   \
    Book book;                                                        \
    for (int i = 0; i < kBlocks; ++i) {                               \
      const size_t size = kSize + static_cast<size_t>(i);             \
      void* block = keep(allocate);                                   \
      book.begin(size);                                               \
      if (i % 2 == 0) RELEASE_##release(block, size), book.end(size); \
    }                                                                 \
    book.print(#function);                                            \
  }
// Ten blocks that are made larger; five of them are freed.
#define MOVED(function, allocate, move, release)                      \
  FRAME void function() {                                             \
    if (release == nullptr) return;                                   \
    Book book;                                                        \
    for (int i = 0; i < kBlocks; ++i) {                               \
      const size_t old_size = kSize + static_cast<size_t>(i);         \
      const size_t size = 7 * old_size;                               \
      void* block = allocate(old_size);                               \
      book.begin(old_size);                                           \
      block = keep(move);                                             \
      book.end(old_size);                                             \
      book.begin(size);                                               \
      if (i % 2 == 0) RELEASE_##release(block, size), book.end(size); \
    }                                                                 \
    book.print(#function);                                            \
  }

#define MALLOCX(size) mallocx(size, 0)
#define RELEASE_free(block, size) free(block)
#define RELEASE___libc_free(block, size) __libc_free(block)
#define RELEASE_dallocx(block, size) dallocx(block, 0)
#define RELEASE_sdallocx(block, size) sdallocx(block, size, 0)
#define RELEASE_tc_free(block, size) tc_free(block)
#define RELEASE_tc_free_sized(block, size) tc_free_sized(block, size)
#define RELEASE_tc_cfree(block, size) tc_cfree(block)
#define RELEASE_tc_delete(block, size) tc_delete(block)
#define RELEASE_tc_deletearray_sized(block, size) tc_deletearray_sized(block, size)
#define RELEASE_mi_free(block, size) mi_free(block)
#define RELEASE_mi_cfree(block, size) free(block)
#define RELEASE_mi_free_size(block, size) mi_free_size(block, size)
#define RELEASE_mi_free_size_aligned(block, size) mi_free_size_aligned(block, size, 64)

BLOCKS(use_libc_malloc, __libc_malloc(size), __libc_free)
BLOCKS(use_libc_calloc, __libc_calloc(1, size), __libc_free)
BLOCKS(use_libc_memalign, __libc_memalign(64, size), __libc_free)
BLOCKS(use_libc_valloc, __libc_valloc(size), __libc_free)
BLOCKS(use_libc_pvalloc, __libc_pvalloc(size), __libc_free)
MOVED(use_libc_realloc, __libc_malloc, __libc_realloc(block, size), __libc_free)
FRAME void use_libc_mixed() {      // begun by one name, ended by the other
  if (mallocx != nullptr) return;  // jemalloc leaves __libc_malloc to glibc
  Book book;
  for (size_t i = 0; i < kBlocks && __libc_malloc != nullptr; ++i) {
    void* mine = keep(__libc_malloc(kSize));
    free(mine);
    mine = keep(malloc(kSize));
    __libc_free(mine);
    book.begin(kSize), book.end(kSize), book.begin(kSize), book.end(kSize);
  }
  if (__libc_malloc != nullptr) book.print("use_libc_mixed");
}
BLOCKS(use_mallocx, mallocx(size, 0), dallocx)
BLOCKS(use_aligned_mallocx, mallocx(size, 6), sdallocx)
BLOCKS(use_sized_mallocx, mallocx(size, 0), sdallocx)
MOVED(use_rallocx, MALLOCX, rallocx(block, size, 0), dallocx)
FRAME void use_xallocx() {  // in place: to what its class has, and to what cannot be had
  if (xallocx == nullptr) return;
  Book book;
  for (int i = 0; i < kBlocks; ++i) {
    void* block = keep(mallocx(1100, 0));  // in a class of 1,280 bytes
    book.begin(1100);
    if (xallocx(block, 1235, 0, 0) < 1235) exit(98);
    book.end(1100), book.begin(1235);
    if (xallocx(block, 1236, 10, 0) < 1246) exit(98);
    book.end(1235), book.begin(1246);
    if (xallocx(block, 500'000, 0, 0) >= 500'000) exit(98);
    if (i % 2 == 0) dallocx(block, 0), book.end(1246);
  }
  book.print("use_xallocx");
}
BLOCKS(use_tc_malloc, tc_malloc(size), tc_free)
BLOCKS(use_tc_calloc, tc_calloc(1, size), tc_cfree)
BLOCKS(use_tc_memalign, tc_memalign(64, size), tc_free)
BLOCKS(use_tc_valloc, tc_valloc(size), tc_free)
BLOCKS(use_tc_sized, tc_malloc(size), tc_free_sized)
BLOCKS(use_tc_new, tc_new(size), tc_delete)
BLOCKS(use_tc_newarray, tc_newarray(size), tc_deletearray_sized)
BLOCKS(
    use_tc_posix_memalign,
    [&] {
      void* out = nullptr;
      return tc_posix_memalign(&out, 64, size) == 0 ? out : nullptr;
    }(),
    tc_free)
MOVED(use_tc_realloc, tc_malloc, tc_realloc(block, size), tc_free)
BLOCKS(use_mi_malloc, mi_malloc(size), mi_free)
BLOCKS(use_mi_zalloc, mi_zalloc(size), mi_free_size)
BLOCKS(use_mi_calloc, mi_calloc(1, size), mi_free)
BLOCKS(use_mi_aligned, mi_malloc_aligned(size, 64), mi_free_size_aligned)
BLOCKS(
    use_mi_posix_memalign,
    [&] {
      void* out = nullptr;
      return mi_posix_memalign(&out, 64, size) == 0 ? out : nullptr;
    }(),
    mi_free)
BLOCKS(use_mi_new, mi_new(size), mi_free)
BLOCKS(use_mi_new_n, mi_new_n(1, size), mi_free)
BLOCKS(use_windows_aligned, _aligned_malloc != nullptr ? _aligned_malloc(64, size) : mi_malloc(size), mi_free)
BLOCKS(use_mi_freed_by_free, mi_malloc(size), mi_cfree)
MOVED(use_mi_realloc, mi_malloc, mi_realloc(block, size), mi_free)
MOVED(use_mi_recalloc, mi_malloc, mi_recalloc(block, 1, size), mi_free)
MOVED(use_mi_reallocf, mi_malloc, mi_reallocf(block, size), mi_free)
FRAME void use_mi_expand() {
  if (mi_expand == nullptr) return;
  Book book;
  void* block = keep(mi_malloc(1100));
  book.begin(1100);
  if (mi_expand(block, 1235) == block) book.end(1100), book.begin(1235);
  if (mi_expand(block, 500'000) != nullptr) exit(98);
  book.print("use_mi_expand");
}
FRAME void use_mi_strdup() {
  if (mi_strdup == nullptr) return;
  Book book;
  for (int i = 0; i < kBlocks; ++i) {
    char* text = mi_strdup("a text of thirty characters ..");
    book.begin(31);
    if (i % 2 == 0) mi_free(text), book.end(31);
  }
  book.print("use_mi_strdup");
}
FRAME void use_mi_heap() {  // blocks end with their heap, or go on in another one
  if (mi_heap_new == nullptr) return;
  Book book;
  void* destroyed = mi_heap_new();
  void* deleted = mi_heap_new();
  for (size_t i = 0; i < kBlocks; ++i) {
    void* block = keep(mi_heap_malloc(destroyed, kSize + i));
    book.begin(kSize + i);
    keep(mi_heap_realloc(destroyed, block, 9 * kSize + i));
    book.end(kSize + i), book.begin(9 * kSize + i);
    keep(mi_heap_strdup(destroyed, "a text of thirty characters .."));
    book.begin(31);
    keep(mi_heap_malloc(deleted, kSize + i));
    book.begin(kSize + i);
  }
  mi_heap_destroy(destroyed);
  for (size_t i = 0; i < kBlocks; ++i) book.end(9 * kSize + i), book.end(31);
  mi_heap_delete(deleted);
  book.print("use_mi_heap");
}

struct Name {
  const char* name;
  const void* address;
};
const Name kNames[] = {{"mallocx", reinterpret_cast<void*>(mallocx)},
                       {"sdallocx", reinterpret_cast<void*>(sdallocx)},
                       {"tc_malloc", reinterpret_cast<void*>(tc_malloc)},
                       {"tc_new", reinterpret_cast<void*>(tc_new)},
                       {"mi_malloc", reinterpret_cast<void*>(mi_malloc)},
                       {"mi_heap_malloc", reinterpret_cast<void*>(mi_heap_malloc)},
                       {"__libc_malloc", reinterpret_cast<void*>(__libc_malloc)}};

int print_found() {
  for (const Name& name : kNames) {
    dlerror();
    const void* found = dlsym(RTLD_DEFAULT, name.name);
    const char* error = dlerror();
    printf("%s: %s by reference, %s by dlsym, %s, %s\n", name.name, name.address != nullptr ? "there" : "none",
           found != nullptr ? "there" : "none", found == name.address ? "one address" : "two addresses",
           error == nullptr ? "no error" : strstr(error, "undefined symbol"));
  }
  dlerror();
  printf("cfree: %s\n", dlsym(RTLD_DEFAULT, "cfree") != nullptr ? "there" : "none");
  printf("cfree of an old version: %s\n", dlvsym(RTLD_DEFAULT, "cfree", "GLIBC_2.2.5") != nullptr ? "there" : "none");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  static char text[16384];
  setvbuf(stdout, text, _IOFBF, sizeof text);
  if (argc > 1 && strcmp(argv[1], "--found") == 0) return print_found();
  for (void (*use)() :
       {use_libc_malloc,       use_libc_calloc, use_libc_memalign, use_libc_valloc,      use_libc_pvalloc,
        use_libc_realloc,      use_libc_mixed,  use_mallocx,       use_aligned_mallocx,  use_sized_mallocx,
        use_rallocx,           use_xallocx,     use_tc_malloc,     use_tc_calloc,        use_tc_memalign,
        use_tc_valloc,         use_tc_sized,    use_tc_new,        use_tc_newarray,      use_tc_posix_memalign,
        use_tc_realloc,        use_mi_malloc,   use_mi_zalloc,     use_mi_calloc,        use_mi_aligned,
        use_mi_posix_memalign, use_mi_new,      use_mi_new_n,      use_mi_freed_by_free, use_mi_realloc,
        use_mi_recalloc,       use_mi_reallocf, use_mi_expand,     use_mi_strdup,        use_mi_heap,
        use_windows_aligned}) {
    use();
  }
  return 0;
}
