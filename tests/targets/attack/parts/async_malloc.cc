// tests/targets/attack/parts/async_malloc.cc: an allocator that may be interrupted, left and forked at any instruction.
//
// With libc's malloc a handler may allocate only where the interrupted code is not inside malloc, and so it never meets
// an event of the profiler half-way. This one takes no lock: each size class is a stack of free blocks whose head
// carries a count against reuse, on memory that is never unmapped. What a jump leaves behind is one block lost. It
// hands addresses out again at once, so that a wrong order or a lost event shows as a free of nobody's block.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <atomic>

namespace {

constexpr size_t kRegionBytes = size_t{16} << 30;
constexpr unsigned kClasses = 40;
constexpr uint64_t kIndexMask = (uint64_t{1} << 32) - 1;  // of 32 bytes each

struct Header {  // before each block; 32 bytes, so that blocks are aligned to 16
  std::atomic<uint64_t> next;
  uint64_t size_class;
  uint64_t usable_bytes;
  uint64_t back_bytes;  // from an aligned block to its whole one's header
};
static_assert(sizeof(Header) == 32);

std::atomic<char*> g_region{nullptr};
std::atomic<size_t> g_used{32};
std::atomic<uint64_t> g_free[kClasses];  // count << 32 | index of a header; 0: none

char* region() {
  char* known = g_region.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  void* mapped =
      mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (g_region.compare_exchange_strong(known, static_cast<char*>(mapped))) return static_cast<char*>(mapped);
  munmap(mapped, kRegionBytes);
  return known;
}

Header* pop(unsigned size_class) {
  uint64_t top = g_free[size_class].load(std::memory_order_acquire);
  while ((top & kIndexMask) != 0) {
    auto* header = reinterpret_cast<Header*>(region() + (top & kIndexMask) * 32);
    const uint64_t next = header->next.load(std::memory_order_relaxed);
    if (g_free[size_class].compare_exchange_weak(top, ((top >> 32) + 1) << 32 | (next & kIndexMask))) return header;
  }
  return nullptr;
}

void push(Header* header) {
  const auto index = static_cast<uint64_t>(reinterpret_cast<char*>(header) - region()) / 32;
  std::atomic<uint64_t>& head = g_free[header->size_class];
  uint64_t top = head.load(std::memory_order_relaxed);
  do header->next.store(top & kIndexMask, std::memory_order_relaxed);
  while (!head.compare_exchange_weak(top, ((top >> 32) + 1) << 32 | index));
}

void* allocate(size_t size) {
  if (size > kRegionBytes / 4 || region() == nullptr) return errno = ENOMEM, nullptr;
  const unsigned size_class = size <= 32 ? 5 : 64 - static_cast<unsigned>(__builtin_clzll(size - 1));
  Header* header = pop(size_class);
  if (header == nullptr) {
    const size_t whole = sizeof(Header) + (size_t{1} << size_class);
    const size_t at = g_used.fetch_add(whole);
    if (at + whole > kRegionBytes) return errno = ENOMEM, nullptr;
    header = reinterpret_cast<Header*>(region() + at);
    header->size_class = size_class;
  }
  header->back_bytes = 0;
  header->usable_bytes = size_t{1} << size_class;
  return header + 1;
}

Header* header_of(void* block) { return static_cast<Header*>(block) - 1; }

void* allocate_aligned(size_t alignment, size_t size) {
  if (alignment <= 16) return allocate(size);
  void* whole = allocate(size + alignment + sizeof(Header));
  if (whole == nullptr) return nullptr;
  const auto first = reinterpret_cast<uintptr_t>(whole);
  const uintptr_t at = (first + sizeof(Header) + alignment - 1) & ~(alignment - 1);
  Header* header = header_of(reinterpret_cast<void*>(at));
  header->back_bytes = at - first;
  header->usable_bytes = header_of(whole)->usable_bytes - (at - first);
  return reinterpret_cast<void*>(at);
}

size_t usable_bytes(void* block) { return block == nullptr ? 0 : header_of(block)->usable_bytes; }

void give_back(void* block) {
  Header* header = header_of(block);
  if (header->back_bytes != 0) header = reinterpret_cast<Header*>(reinterpret_cast<char*>(header) - header->back_bytes);
  push(header);
}

}  // namespace

// None of these calls another by its name, which is the profiler's.
extern "C" {

int attack_malloc_is_async = 1;  // how the program knows which allocator it has

void* malloc(size_t size) { return allocate(size); }

void free(void* block) {
  if (block != nullptr) give_back(block);
}

void* calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return errno = ENOMEM, nullptr;
  void* block = allocate(bytes);
  return block == nullptr ? nullptr : memset(block, 0, bytes);
}

void* memalign(size_t alignment, size_t size) { return allocate_aligned(alignment, size); }

size_t malloc_usable_size(void* block) { return usable_bytes(block); }

void* realloc(void* block, size_t size) {
  if (block == nullptr) return allocate(size);
  if (size == 0) return give_back(block), nullptr;
  const size_t usable = usable_bytes(block);
  if (size <= usable && size >= usable / 2) return block;
  void* moved = allocate(size);
  if (moved == nullptr) return nullptr;
  memcpy(moved, block, size < usable ? size : usable);
  give_back(block);
  return moved;
}

void* aligned_alloc(size_t alignment, size_t size) { return allocate_aligned(alignment, size); }
int posix_memalign(void** block, size_t alignment, size_t size) {
  void* made = allocate_aligned(alignment, size);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}
void* valloc(size_t size) { return allocate_aligned(4096, size); }
void* pvalloc(size_t size) { return allocate_aligned(4096, (size + 4095) & ~size_t{4095}); }

}  // extern "C"
