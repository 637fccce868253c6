// shared/kernels.h: what an agent says about each kernel that the program launches on a CUDA device: its name, which
// is in the arena once, and a record for each launch, which has the name's number and the launch's shape.
//
// Trust:  as in events.h.
// Cost:   a launch is one unit.
#pragma once

#include "shared/events.h"
#include "shared/scopes.h"
#include "shared/wire.h"

namespace heapprof::wire {

// A kernel's name, as the driver has it: C++ names are mangled. States are those of Name.
struct KernelName {
  std::atomic<NameState> state;  // pairs with (L)
  uint32_t text_bytes;           // length of the whole name, even if it was cut
  char characters[kKernelNameBytes - 8];
};
static_assert(sizeof(KernelName) == kKernelNameBytes);

// Numbers of kernels: a name's slot in their table + 1, or one of these.
inline constexpr uint32_t kGraphLaunch = 0x1ffd;    // not a kernel but a graph: w1 has its number of kernel nodes + 1
inline constexpr uint32_t kUnnamedKernel = 0x1ffe;  // a kernel whose name is not known
inline constexpr uint32_t kOtherKernel = 0x1fff;    // a kernel whose name found no room
static_assert(kMaxKernels < kGraphLaunch);

// How a kernel is launched. No device takes more than the fields of a record hold; a larger size is written as the
// greatest value.
struct LaunchShape {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;  // dynamic shared memory
};

inline constexpr uint64_t kGridXBits = 31, kGridYBits = 16, kGridZBits = 16;
inline constexpr uint64_t kBlockXBits = 11, kBlockYBits = 11, kBlockZBits = 7;
inline constexpr uint64_t kSharedBits = 18;
constexpr uint64_t at_most(uint64_t value, uint64_t bits) {
  return value < (1ull << bits) ? value : (1ull << bits) - 1;
}
// w0 = type:4 | kernel:13 (59…47) | block z:7, y:11, x:11 (46…18) | shared memory:18 (17…0)
// w1 = 0:1 | grid z:16, y:16, x:31
constexpr Record pack_launch(uint32_t kernel, const LaunchShape& shape) {
  const uint64_t block = (at_most(shape.block[2], kBlockZBits) << kBlockYBits | at_most(shape.block[1], kBlockYBits))
                             << kBlockXBits |
                         at_most(shape.block[0], kBlockXBits);
  const uint64_t grid = (at_most(shape.grid[2], kGridZBits) << kGridYBits | at_most(shape.grid[1], kGridYBits))
                            << kGridXBits |
                        at_most(shape.grid[0], kGridXBits);
  return {static_cast<uint64_t>(RecordType::kLaunch) << 60 | static_cast<uint64_t>(kernel & 0x1fff) << 47 |
              block << kSharedBits | at_most(shape.shared_bytes, kSharedBits),
          grid};
}
// kernel_nodes_plus_one: 0: the number is not known
constexpr Record pack_graph_launch(uint64_t kernel_nodes_plus_one) {
  return {static_cast<uint64_t>(RecordType::kLaunch) << 60 | static_cast<uint64_t>(kGraphLaunch) << 47,
          at_most(kernel_nodes_plus_one, 63)};
}
constexpr uint32_t launched_kernel(uint64_t w0) { return static_cast<uint32_t>(w0 >> 47 & 0x1fff); }
constexpr LaunchShape launch_shape(uint64_t w0, uint64_t w1) {
  const auto take = [](uint64_t* from, uint64_t bits) {
    const auto value = static_cast<uint32_t>(*from & ((1ull << bits) - 1));
    *from >>= bits;
    return value;
  };
  LaunchShape shape{};
  shape.shared_bytes = take(&w0, kSharedBits);
  shape.block[0] = take(&w0, kBlockXBits);
  shape.block[1] = take(&w0, kBlockYBits);
  shape.block[2] = take(&w0, kBlockZBits);
  shape.grid[0] = take(&w1, kGridXBits);
  shape.grid[1] = take(&w1, kGridYBits);
  shape.grid[2] = take(&w1, kGridZBits);
  return shape;
}
inline constexpr Record kWidestLaunch =
    pack_launch(kUnnamedKernel, {{0x7fffffff, 65535, 65535}, {1024, 1024, 64}, 232448});
static_assert(record_type(kWidestLaunch.w0) == RecordType::kLaunch &&
              launched_kernel(kWidestLaunch.w0) == kUnnamedKernel &&
              launch_shape(kWidestLaunch.w0, kWidestLaunch.w1).grid[0] == 0x7fffffff &&
              launch_shape(kWidestLaunch.w0, kWidestLaunch.w1).grid[2] == 65535 &&
              launch_shape(kWidestLaunch.w0, kWidestLaunch.w1).block[0] == 1024 &&
              launch_shape(kWidestLaunch.w0, kWidestLaunch.w1).block[2] == 64 &&
              launch_shape(kWidestLaunch.w0, kWidestLaunch.w1).shared_bytes == 232448);

}  // namespace heapprof::wire
