// agent/cuda/array_size.h: how many bytes an array or a mipmap of CUDA takes.
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

// The bytes of its texels, without padding, which the driver tells nobody. 0: it has no memory but what is mapped into
// it (sparse, or mapped later). levels: 1 for an array; for a mipmap what the program asks for, though no more count
// than halve the longest side to 1.
// Source: CUarray_format and the flags CUDA_ARRAY3D_… in cuda.h 13.0. A format that is not known counts a byte a
//         channel.
uint64_t bytes_of_array(const CudaArray3d& descriptor, uint32_t levels);

}  // namespace heapprof::agent
