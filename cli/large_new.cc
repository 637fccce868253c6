// cli/large_new.cc: every large operator new gets huge pages.
//
// The end of a run fills vectors of many megabytes once. Their fresh pages cost more than the writing: a page fault of
// 4 KiB takes 1 to 20 µs in a virtual machine. Huge pages are a 512th as many; if the kernel has none, nothing changes.
// Not used with a sanitizer, which has its own operator new.
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr size_t kLeastBytes = 2 << 20;  // less holds no whole huge page
constexpr uintptr_t kPageBytes = 4096;

}  // namespace

void* operator new(size_t bytes) {
  void* const memory = std::malloc(bytes != 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  if (bytes >= kLeastBytes) {
    const uintptr_t first = reinterpret_cast<uintptr_t>(memory) & ~(kPageBytes - 1);
    const uintptr_t last = (reinterpret_cast<uintptr_t>(memory) + bytes) & ~(kPageBytes - 1);
    const int saved = errno;
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
    errno = saved;
  }
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
