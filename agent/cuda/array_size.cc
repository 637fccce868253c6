// agent/cuda/array_size.cc: multiplies out an array's texels, level by level.
//
// The driver does not report how much memory an array takes, and cuMemGetInfo is too coarse and too slow to call for
// each. So the size is what the descriptor requests: a lower bound, without the driver's padding.
#include "agent/cuda/array_size.h"

namespace heapprof::agent {

namespace {

// Flags CUDA_ARRAY3D_….
constexpr uint32_t kDepthIsCount =
    0x01 | 0x04;  // LAYERED, CUBEMAP: depth counts layers or faces, the same at each level
constexpr uint32_t kMappedLater = 0x40 | 0x80;  // SPARSE, DEFERRED_MAPPING

// The unit that a format stores: a texel, or a compressed square of texels.
struct Block {
  uint32_t side;
  uint32_t bits;
};

Block block_of(uint32_t format, uint32_t channels) {
  switch (format) {
    case 0x02:  // integers of 16 bits, half
    case 0x09:
    case 0x10:
    case 0xc3:  // normalized
    case 0xc4:
    case 0xc5:
    case 0xc9:
    case 0xca:
    case 0xcb: return {1, 16 * channels};
    case 0x03:  // integers of 32 bits, float
    case 0x0a:
    case 0x20: return {1, 32 * channels};
    case 0x91:  // BC1, BC4
    case 0x92:
    case 0x97:
    case 0x98: return {4, 64};
    case 0x93:  // BC2, BC3, BC5, BC6H, BC7
    case 0x94:
    case 0x95:
    case 0x96:
    case 0x99:
    case 0x9a:
    case 0x9b:
    case 0x9c:
    case 0x9d:
    case 0x9e: return {4, 128};
    case 0xb0: return {1, 12};  // NV12
    case 0xa2:                  // NV16, YUY2
    case 0xa5: return {1, 16};
    case 0x9f:  // P010, P016, and 4:4:4 of 8 bits in planes
    case 0xa1:
    case 0xb2:
    case 0xb4: return {1, 24};
    case 0x50:  // 10:10:10:2, P210, P216, Y210, Y216, AYUV, Y410
    case 0xa3:
    case 0xa4:
    case 0xa6:
    case 0xa7:
    case 0xa8:
    case 0xa9: return {1, 32};
    case 0xb3:  // 4:4:4 of more than 8 bits in planes
    case 0xb5: return {1, 48};
    case 0xb1: return {1, 64};  // Y416
    default: return {1, 8 * channels};
  }
}

}  // namespace

uint64_t bytes_of_array(const CudaArray3d& descriptor, uint32_t levels) {
  if ((descriptor.flags & kMappedLater) != 0) return 0;
  const Block block = block_of(descriptor.format, descriptor.channels);
  uint64_t width = descriptor.width;
  uint64_t height = descriptor.height == 0 ? 1 : descriptor.height;
  uint64_t depth = descriptor.depth == 0 ? 1 : descriptor.depth;
  const auto most_levels = static_cast<uint32_t>(64 - __builtin_clzll(width | height | depth));
  if (levels == 0) levels = 1;
  uint64_t sum_bits = 0;
  for (uint32_t level = 0; level < levels && level < most_levels; ++level) {
    const uint64_t columns = (width + block.side - 1) / block.side;
    const uint64_t rows = (height + block.side - 1) / block.side;
    sum_bits += columns * rows * depth * block.bits;
    width = width > 1 ? width / 2 : width;
    height = height > 1 ? height / 2 : height;
    if ((descriptor.flags & kDepthIsCount) == 0) depth = depth > 1 ? depth / 2 : depth;
  }
  return (sum_bits + 7) / 8;
}

}  // namespace heapprof::agent
