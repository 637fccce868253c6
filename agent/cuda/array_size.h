// agent/cuda/array_size.h: how many bytes a CUDA array or mipmap takes.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent {

struct CudaArray2d {  // CUDA_ARRAY_DESCRIPTOR
  size_t width;
  size_t height;
  uint32_t format;
  uint32_t channels;
};
struct CudaArray3d {  // CUDA_ARRAY3D_DESCRIPTOR
  size_t width;
  size_t height;
  size_t depth;
  uint32_t format;
  uint32_t channels;
  uint32_t flags;
};

// The bytes of the array's texels, without padding, which the driver does not report. 0: the array has only memory that
// is mapped into it (sparse, or mapped later). levels: 1 for an array; for a mipmap the number that the program
// requests. No more levels count than it takes to halve the longest side to 1.
// Source: CUarray_format and the flags CUDA_ARRAY3D_… in cuda.h 13.0. An unknown format counts a byte a channel.
uint64_t bytes_of_array(const CudaArray3d& descriptor, uint32_t levels);

}  // namespace heapprof::agent
