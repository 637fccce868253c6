// cli/collect/memory/mapped_memory.cc: see mapped_memory.h.
#include "cli/collect/memory/mapped_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace heapprof::cli {

namespace {

void* map_anywhere(size_t bytes, int protection) {
  void* memory = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

// Address space that is aligned to a huge page.
void* map_aligned(size_t bytes, int protection) {
  auto* all = static_cast<unsigned char*>(map_anywhere(bytes + kHugePageBytes, protection));
  const size_t before = (kHugePageBytes - reinterpret_cast<uintptr_t>(all) % kHugePageBytes) % kHugePageBytes;
  if (before != 0) ::munmap(all, before);
  ::munmap(all + before + bytes, kHugePageBytes - before);
  return all + before;
}

}  // namespace

void* map_zeroed(size_t bytes) {
  if (bytes < kHugeFrom) return map_anywhere(bytes, PROT_READ | PROT_WRITE);
  void* memory = map_aligned(bytes, PROT_READ | PROT_WRITE);
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void* map_written(size_t bytes) {
  void* memory = nullptr;
  if (bytes < kHugePageBytes) {
    memory = map_anywhere(bytes, PROT_READ | PROT_WRITE);
  } else {
    memory = map_aligned(bytes, PROT_READ | PROT_WRITE);
    ::madvise(memory, bytes, MADV_HUGEPAGE);
  }
  ::madvise(memory, bytes, MADV_POPULATE_WRITE);  // if it fails (before Linux 5.14), page faults do the same
  return memory;
}

void* grow_mapping(void* memory, size_t bytes, size_t new_bytes) {
  void* target = new_bytes < kHugeFrom ? map_anywhere(new_bytes, PROT_NONE) : map_aligned(new_bytes, PROT_NONE);
  void* moved = ::mremap(memory, bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target);
  if (moved == MAP_FAILED) {
    ::munmap(target, new_bytes);
    throw std::bad_alloc();
  }
  if (new_bytes >= kHugeFrom) ::madvise(moved, new_bytes, MADV_HUGEPAGE);
  return moved;
}

void unmap(void* memory, size_t bytes) { ::munmap(memory, bytes); }

}  // namespace heapprof::cli
