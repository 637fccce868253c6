// agent/libc/private_memory.cc: memory that a forked child does not share, and that counts towards no limit of the
// program.
//
// RLIMIT_DATA counts memory that is private and writable, except stacks. So these pages are made pages of a stack
// (MAP_GROWSDOWN). An inaccessible page below them keeps them from growing. Shared pages would not count either, but a
// forked child would write into its parent's. mlockall(MCL_FUTURE) would lock all pages and thereby touch them, so they
// are unlocked before they become accessible.
#include "agent/libc/raw.h"

namespace heapprof::agent {

namespace {

constexpr size_t kGuardBytes = 4096;
constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

void* map_private(size_t size_bytes) {
  auto* const guard = static_cast<unsigned char*>(sys_mmap(kGuardBytes + size_bytes, PROT_NONE, kFlags, -1));
  if (guard == nullptr) return nullptr;
  const auto memory = reinterpret_cast<long>(guard + kGuardBytes);
  const auto bytes = static_cast<long>(size_bytes);
  // If the kernel has no such pages, the pages of the first mapping stay, which count towards RLIMIT_DATA.
  raw_syscall(SYS_mmap, memory, bytes, PROT_NONE, kFlags | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
  raw_syscall(SYS_munlock, reinterpret_cast<long>(guard), static_cast<long>(kGuardBytes) + bytes);
  if (!is_error(raw_syscall(SYS_mprotect, memory, bytes, PROT_READ | PROT_WRITE))) {
    leave_out_of_cores(reinterpret_cast<void*>(memory), size_bytes);
    return reinterpret_cast<void*>(memory);
  }
  sys_munmap(guard, kGuardBytes + size_bytes);
  return nullptr;
}

void unmap_private(void* memory, size_t size_bytes) {
  sys_munmap(static_cast<unsigned char*>(memory) - kGuardBytes, kGuardBytes + size_bytes);
}

}  // namespace heapprof::agent
