// cli/large_new.cc: an operator new that requests huge pages for large blocks.
//
// At the end of a run, vectors of many megabytes are filled once. The page faults of their new pages cost more than the
// writing: in a virtual machine, a fault for 4 KiB takes 1 to 20 µs. With huge pages there are 512 times fewer faults.
// If the kernel has no huge pages, nothing changes. This file is not built in if a sanitizer is used, which has its own
// operator new.
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr size_t kLeastBytes = 2 << 20;  // a smaller block contains no whole huge page
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
