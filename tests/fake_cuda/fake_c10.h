// tests/fake_cuda/fake_c10.h: what PyTorch's allocators report to (fake_c10.cc). Their names are as in libc10.
#pragma once

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)
namespace c10 {

struct Device {
  int8_t type;  // 0: CPU, 1: CUDA
  int8_t index;
};

extern uint64_t g_reached;  // calls

void reportMemoryUsageToProfiler(Device device, int64_t size_bytes);
void reportMemoryUsageToProfiler(void* block, int64_t size_bytes, Device device);
void reportMemoryUsageToProfiler(void* block, int64_t size_bytes, int64_t allocated, int64_t reserved, Device device);
void reportMemoryUsageToProfiler(void* block, int64_t size_bytes, size_t allocated, size_t reserved, Device device);
void reportOutOfMemoryToProfiler(int64_t size_bytes, int64_t allocated, int64_t reserved, Device device);
void reportOutOfMemoryToProfiler(int64_t size_bytes, size_t allocated, size_t reserved, Device device);
void reportOutOfMemoryToProfiler(size_t size_bytes, size_t allocated, size_t reserved, Device device);

}  // namespace c10
#pragma GCC visibility pop
