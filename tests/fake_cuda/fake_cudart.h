// tests/fake_cuda/fake_cudart.h: the part of the CUDA runtime's interface that fake_cudart.cc has.
#pragma once

#include <stddef.h>

extern "C" {

struct FakePitched {  // cudaPitchedPtr
  void* block;
  size_t pitch, width, height;
};
struct FakeExtent {  // cudaExtent
  size_t width, height, depth;
};

// X(name, params)
#define FAKE_CUDART_FUNCTIONS(X)                                                          \
  X(cudaGetDevice, (int* which))                                                          \
  X(cudaSetDevice, (int which))                                                           \
  X(cudaMalloc, (void** block, size_t bytes))                                             \
  X(cudaFree, (void* block))                                                              \
  X(cudaHostAlloc, (void** block, size_t bytes, unsigned flags))                          \
  X(cudaMallocHost, (void** block, size_t bytes))                                         \
  X(cudaFreeHost, (void* block))                                                          \
  X(cudaMallocManaged, (void** block, size_t bytes, unsigned flags))                      \
  X(cudaMallocPitch, (void** block, size_t* pitch, size_t width, size_t height))          \
  X(cudaMalloc3D, (FakePitched * pitched, FakeExtent extent))                             \
  X(cudaMallocAsync, (void** block, size_t bytes, void* stream))                          \
  X(cudaMallocAsync_ptsz, (void** block, size_t bytes, void* stream))                     \
  X(cudaMallocFromPoolAsync, (void** block, size_t bytes, void* pool, void* stream))      \
  X(cudaMallocFromPoolAsync_ptsz, (void** block, size_t bytes, void* pool, void* stream)) \
  X(cudaFreeAsync, (void* block, void* stream))                                           \
  X(cudaFreeAsync_ptsz, (void* block, void* stream))

#define X(name, params) int name params;
FAKE_CUDART_FUNCTIONS(X)
#undef X
}
