// agent/libc/large_variables.cc: the agent's large tables, which count for no limit of the program's
// (private_memory.cc).
#include "agent/libc/raw.h"

extern "C" __attribute__((visibility("hidden"))) char heapprof_large_start[], heapprof_large_end[];  // large.ld

namespace heapprof::agent {

// The variables lie behind the library's others, so that nothing is in front of them to grow into.
LargeVariables uncount_large_variables() {
  const long size_bytes = heapprof_large_end - heapprof_large_start;
  raw_syscall(SYS_mmap, reinterpret_cast<long>(heapprof_large_start), size_bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
  return {heapprof_large_start, static_cast<size_t>(size_bytes)};
}

}  // namespace heapprof::agent
