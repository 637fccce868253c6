// tests/fake_cuda/fake_c10.cc: the functions of libc10 that PyTorch's allocators report to, in the forms that versions
// have, as a library of its own: it counts what reaches it.
#include "tests/fake_cuda/fake_c10.h"

namespace c10 {

uint64_t g_reached = 0;

void reportMemoryUsageToProfiler(Device, int64_t) { ++g_reached; }
void reportMemoryUsageToProfiler(void*, int64_t, Device) { ++g_reached; }
void reportMemoryUsageToProfiler(void*, int64_t, int64_t, int64_t, Device) { ++g_reached; }
void reportMemoryUsageToProfiler(void*, int64_t, size_t, size_t, Device) { ++g_reached; }
void reportOutOfMemoryToProfiler(int64_t, int64_t, int64_t, Device) { ++g_reached; }
void reportOutOfMemoryToProfiler(int64_t, size_t, size_t, Device) { ++g_reached; }
void reportOutOfMemoryToProfiler(size_t, size_t, size_t, Device) { ++g_reached; }

}  // namespace c10
