// tests/targets/loader/plugins/bump_malloc.cc: an allocator that may be interrupted anywhere, so that a signal handler
// may allocate.
//
// Guarantees
//  - Async-signal-safe and lock-free: an atomic addition. free does nothing.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <atomic>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr size_t kRegionBytes = size_t{64} << 30;
std::atomic<char*> g_region{nullptr};
std::atomic<size_t> g_used{0};

char* region() {
  char* known = g_region.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  void* fresh = mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) __builtin_trap();
  if (g_region.compare_exchange_strong(known, static_cast<char*>(fresh), std::memory_order_acq_rel))
    return static_cast<char*>(fresh);
  munmap(fresh, kRegionBytes);
  return known;
}

// Before each block: its size.
void* take(size_t alignment, size_t size_bytes) {
  if (alignment < 16) alignment = 16;
  if (size_bytes > kRegionBytes / 4) return errno = ENOMEM, nullptr;
  size_t room = (size_bytes + 15) / 16 * 16 + alignment + 16;
  size_t place = g_used.fetch_add(room, std::memory_order_relaxed);
  if (place + room > kRegionBytes) return errno = ENOMEM, nullptr;
  auto start = reinterpret_cast<uintptr_t>(region()) + place + 16;
  auto block = (start + alignment - 1) / alignment * alignment;
  reinterpret_cast<size_t*>(block)[-1] = size_bytes;
  return reinterpret_cast<void*>(block);
}

size_t size_of(void* block) { return static_cast<size_t*>(block)[-1]; }

}  // namespace

EXPORT void* malloc(size_t size_bytes) { return take(16, size_bytes); }
EXPORT void free(void*) {}
EXPORT void* calloc(size_t count, size_t size_bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, size_bytes, &all)) return errno = ENOMEM, nullptr;
  return take(16, all);  // fresh pages are zero
}
EXPORT void* realloc(void* block, size_t size_bytes) {
  if (block != nullptr && size_bytes == 0) return nullptr;
  void* fresh = take(16, size_bytes);
  if (block == nullptr || fresh == nullptr) return fresh;
  return memcpy(fresh, block, size_of(block) < size_bytes ? size_of(block) : size_bytes);
}
EXPORT void* aligned_alloc(size_t alignment, size_t size_bytes) { return take(alignment, size_bytes); }
EXPORT void* memalign(size_t alignment, size_t size_bytes) { return take(alignment, size_bytes); }
EXPORT int posix_memalign(void** block, size_t alignment, size_t size_bytes) {
  *block = take(alignment, size_bytes);
  return *block == nullptr ? ENOMEM : 0;
}
EXPORT size_t malloc_usable_size(void* block) { return block == nullptr ? 0 : size_of(block); }
