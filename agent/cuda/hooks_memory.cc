// agent/cuda/hooks_memory.cc: memory that a program allocates from the CUDA driver in blocks: device, pitched, managed,
// pinned, arrays, pools.
#include "agent/cuda/holdings.h"
#include "agent/cuda/wrapper.h"

namespace heapprof::agent {

namespace {

// Keeps the value that a caller's output variable had before the call, as the allocation may turn out to exceed a
// limit.
template <typename Value>
class KeptOutput {
 public:
  explicit KeptOutput(Value* output) : output_(has_device_limits() ? output : nullptr) {
    if (output_ != nullptr) before_ = *output_;
  }
  void restore() const {
    if (output_ != nullptr) *output_ = before_;
  }

 private:
  Value* output_;
  Value before_{};
};

}  // namespace

}  // namespace heapprof::agent

using namespace heapprof::agent;
using heapprof::wire::DeviceCall;

CUDA_HOOK(cuMemAlloc_v2)(uint64_t* address, size_t size_bytes) {
  auto* real = REAL(cuMemAlloc_v2);
  return allocate_block(device_of_context(), address, size_bytes, DeviceCall::kAllocate, HEAPPROF_HOOK_FRAME(),
                        [&] { return call(real, address, size_bytes); });
}

CUDA_HOOK(cuMemAllocPitch_v2)
(uint64_t* address, size_t* pitch_bytes, size_t width_bytes, size_t height, unsigned element_bytes) {
  auto* real = REAL(cuMemAllocPitch_v2);
  const uint32_t device = device_of_context();
  const KeptOutput kept(address);
  const KeptOutput kept_pitch(pitch_bytes);
  return allocate(
      {0, device, width_bytes * height, 0}, DeviceOperation::kAllocate, DeviceCall::kAllocate, HEAPPROF_HOOK_FRAME(),
      [&] { return call(real, address, pitch_bytes, width_bytes, height, element_bytes); },
      [&] {
        if (address == nullptr || pitch_bytes == nullptr) return DeviceMemory{};
        return DeviceMemory{*address, device, *pitch_bytes * height, number(current_context())};
      },
      [&](uint64_t got) {
        heapprof::agent::call(REAL(cuMemFree_v2), got);
        kept.restore();
        kept_pitch.restore();
      });
}

CUDA_HOOK(cuMemAllocManaged)(uint64_t* address, size_t size_bytes, unsigned flags) {
  auto* real = REAL(cuMemAllocManaged);
  return allocate_block(heapprof::wire::kManagedDevice, address, size_bytes, DeviceCall::kAllocate,
                        HEAPPROF_HOOK_FRAME(), [&] { return call(real, address, size_bytes, flags); });
}

CUDA_HOOK(cuMemHostAlloc)(void** block, size_t size_bytes, unsigned flags) {
  auto* real = REAL(cuMemHostAlloc);
  return allocate_block(heapprof::wire::kPinnedDevice, block, size_bytes, DeviceCall::kAllocatePinned,
                        HEAPPROF_HOOK_FRAME(), [&] { return call(real, block, size_bytes, flags); });
}

CUDA_HOOK(cuMemAllocHost_v2)(void** block, size_t size_bytes) {
  auto* real = REAL(cuMemAllocHost_v2);
  return allocate_block(heapprof::wire::kPinnedDevice, block, size_bytes, DeviceCall::kAllocatePinned,
                        HEAPPROF_HOOK_FRAME(), [&] { return call(real, block, size_bytes); });
}

// Arrays and mipmaps have no addresses: the books use their handles instead.
CUDA_HOOK(cuArrayCreate_v2)(void** array, const CudaArray2d* descriptor) {
  auto* real = REAL(cuArrayCreate_v2);
  const CudaArray2d flat = descriptor != nullptr ? *descriptor : CudaArray2d{};
  const uint64_t size_bytes = bytes_of_array({flat.width, flat.height, 0, flat.format, flat.channels, 0}, 1);
  return allocate_block(device_of_context(), array, size_bytes, DeviceCall::kAllocate, HEAPPROF_HOOK_FRAME(),
                        [&] { return call(real, array, descriptor); });
}

CUDA_HOOK(cuArray3DCreate_v2)(void** array, const CudaArray3d* descriptor) {
  auto* real = REAL(cuArray3DCreate_v2);
  const uint64_t size_bytes = bytes_of_array(descriptor != nullptr ? *descriptor : CudaArray3d{}, 1);
  return allocate_block(device_of_context(), array, size_bytes, DeviceCall::kAllocate, HEAPPROF_HOOK_FRAME(),
                        [&] { return call(real, array, descriptor); });
}

CUDA_HOOK(cuMipmappedArrayCreate)(void** array, const CudaArray3d* descriptor, unsigned levels) {
  auto* real = REAL(cuMipmappedArrayCreate);
  const uint64_t size_bytes = bytes_of_array(descriptor != nullptr ? *descriptor : CudaArray3d{}, levels);
  return allocate_block(device_of_context(), array, size_bytes, DeviceCall::kAllocate, HEAPPROF_HOOK_FRAME(),
                        [&] { return call(real, array, descriptor, levels); });
}

namespace {

// An allocation that a capture turns into a graph node: there is no memory yet.
template <typename Call>
INLINE int capture_allocation(const uint64_t* address, size_t size_bytes, HookFrame hook_frame, Call&& call) {
  const int result =
      time_call(DeviceCall::kAllocateInGraph, size_bytes, hook_frame, [&] { return call_captured(call); });
  if (result != kCudaSuccess || address == nullptr) return result;
  note_graph_memory(device_of_pointer(*address));
  note_address(DeviceOperation::kGraphAddress, *address, hook_frame);
  return result;
}

// Allocates from a pool. Such memory does not end with a context. ask_device(): the pool's device, if that is known
// before the call.
template <typename Call, typename AskDevice>
INLINE int allocate_async(uint64_t* address, size_t size_bytes, void* stream, bool per_thread, HookFrame hook_frame,
                          Call&& call, AskDevice&& ask_device) {
  if (is_capturing(stream, per_thread)) return capture_allocation(address, size_bytes, hook_frame, call);
  PoolSlot pool_slot{0, kMostPools};
  const KeptOutput kept(address);
  const int result = allocate(
      {0, kDeviceToAsk, size_bytes, 0}, DeviceOperation::kAllocateFromPool, DeviceCall::kAllocateAsync, hook_frame,
      call,
      [&] {
        if (address == nullptr || *address == 0) return DeviceMemory{};
        pool_slot = find_pool_slot(*address);
        return DeviceMemory{*address, pool_slot.device, size_bytes, 0};
      },
      [&](uint64_t got) {
        auto* free_async = per_thread ? REAL(cuMemFreeAsync_ptsz) : REAL(cuMemFreeAsync);
        if (free_async != nullptr) free_async(got, stream);
        kept.restore();
      },
      ask_device);
  if (result == kCudaSuccess) note_pool_block(pool_slot, size_bytes, hook_frame);
  return result;
}

}  // namespace

CUDA_HOOK(cuMemAllocAsync)(uint64_t* address, size_t size_bytes, void* stream) {
  auto* real = REAL(cuMemAllocAsync);
  return allocate_async(
      address, size_bytes, stream, false, HEAPPROF_HOOK_FRAME(),
      [&] { return call(real, address, size_bytes, stream); }, [&] { return device_of_stream(stream); });
}
CUDA_HOOK(cuMemAllocAsync_ptsz)(uint64_t* address, size_t size_bytes, void* stream) {
  auto* real = REAL(cuMemAllocAsync_ptsz);
  return allocate_async(
      address, size_bytes, stream, true, HEAPPROF_HOOK_FRAME(), [&] { return call(real, address, size_bytes, stream); },
      [&] { return device_of_stream(stream); });
}
CUDA_HOOK(cuMemAllocFromPoolAsync)(uint64_t* address, size_t size_bytes, void* pool, void* stream) {
  auto* real = REAL(cuMemAllocFromPoolAsync);
  return allocate_async(
      address, size_bytes, stream, false, HEAPPROF_HOOK_FRAME(),
      [&] { return call(real, address, size_bytes, pool, stream); }, [&] { return device_of_pool(pool); });
}
CUDA_HOOK(cuMemAllocFromPoolAsync_ptsz)(uint64_t* address, size_t size_bytes, void* pool, void* stream) {
  auto* real = REAL(cuMemAllocFromPoolAsync_ptsz);
  return allocate_async(
      address, size_bytes, stream, true, HEAPPROF_HOOK_FRAME(),
      [&] { return call(real, address, size_bytes, pool, stream); }, [&] { return device_of_pool(pool); });
}

// This call frees blocks of any kind; a pool may give its memory back at the next wait.
CUDA_HOOK(cuMemFree_v2)(uint64_t address) {
  note_pool_free();
  return release(REAL(cuMemFree_v2), address, DeviceCall::kFree, HEAPPROF_HOOK_FRAME(), address);
}
CUDA_HOOK(cuMemFreeAsync)(uint64_t address, void* stream) {
  if (is_capturing(stream, false)) return call_captured([&] { return call(REAL(cuMemFreeAsync), address, stream); });
  note_pool_free();
  return release(REAL(cuMemFreeAsync), address, DeviceCall::kFreeAsync, HEAPPROF_HOOK_FRAME(), address, stream);
}
CUDA_HOOK(cuMemFreeAsync_ptsz)(uint64_t address, void* stream) {
  if (is_capturing(stream, true))
    return call_captured([&] { return call(REAL(cuMemFreeAsync_ptsz), address, stream); });
  note_pool_free();
  return release(REAL(cuMemFreeAsync_ptsz), address, DeviceCall::kFreeAsync, HEAPPROF_HOOK_FRAME(), address, stream);
}
CUDA_HOOK(cuMemFreeHost)(void* block) {
  return release(REAL(cuMemFreeHost), number(block), DeviceCall::kFreePinned, HEAPPROF_HOOK_FRAME(), block);
}
CUDA_HOOK(cuArrayDestroy)(void* array) {
  return release(REAL(cuArrayDestroy), number(array), DeviceCall::kFree, HEAPPROF_HOOK_FRAME(), array);
}
CUDA_HOOK(cuMipmappedArrayDestroy)(void* array) {
  return release(REAL(cuMipmappedArrayDestroy), number(array), DeviceCall::kFree, HEAPPROF_HOOK_FRAME(), array);
}
