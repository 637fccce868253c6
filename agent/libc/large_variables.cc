// agent/libc/large_variables.cc: the agent's large tables, which count towards no limit of the program
// (private_memory.cc).
#include "agent/libc/raw.h"

extern "C" __attribute__((visibility("hidden"))) char heapprof_large_start[], heapprof_large_end[];  // large.ld

namespace heapprof::agent {

// The linker places these variables after all others of the library: so there is no free memory directly below them to
// grow into.
LargeVariables uncount_large_variables() {
  const long size_bytes = heapprof_large_end - heapprof_large_start;
  raw_syscall(SYS_mmap, reinterpret_cast<long>(heapprof_large_start), size_bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
  return {heapprof_large_start, static_cast<size_t>(size_bytes)};
}

}  // namespace heapprof::agent
