// agent/hooks_cuda.cc: the wrappers of the CUDA driver's functions: call, then say what began; say what ends, then call.
#include "agent/cuda_driver.h"
#include "agent/cuda_routes.h"
#include "agent/record.h"
#include "shared/events.h"

#define HOOK extern "C" __attribute__((visibility("default"), noinline))

namespace heapprof::agent {

namespace {

using wire::DeviceOperation;

void* g_primary[64];  // contexts by device, as the driver gave them out

// ---- Calls ----

// The driver's function with the type of the wrapper; NAME(arguments).
#define REAL(symbol) reinterpret_cast<decltype(&symbol)>(real_cuda(CudaFunction::symbol))

// The helpers are inlined: where a hook's frame is looked at, it must still be there.
#define INLINE [[gnu::always_inline]] inline

template <typename Function, typename... Arguments>
INLINE int call(Function* real, Arguments... arguments) {
  return real == nullptr ? kCudaNotInitialized : real(arguments...);
}

uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

constexpr uint64_t kNoAddress = 8;

// Memory that ends with the calling thread's context.
INLINE void note_allocation(uint32_t device, uint64_t address, uint64_t size_bytes, const uint64_t* hook_frame) {
  if (address != 0)
    record_device({DeviceOperation::kAllocate, device, number(current_context()), address, size_bytes}, hook_frame);
}
// Memory of a pool, or of somebody else, which no context ends.
INLINE void note_lasting(uint32_t device, uint64_t address, uint64_t size_bytes, const uint64_t* hook_frame) {
  if (address != 0) record_device({DeviceOperation::kAllocate, device, 0, address, size_bytes}, hook_frame);
}
INLINE void note_address(DeviceOperation operation, uint64_t address, const uint64_t* hook_frame) {
  if (address != 0) record_device({operation, 0, 0, address, 0}, hook_frame);
}
INLINE void note_handle(DeviceOperation operation, uint64_t handle, const uint64_t* hook_frame) {
  if (handle != 0) record_device({operation, 0, handle, kNoAddress, 0}, hook_frame);
}
INLINE void note_context_end(const void* context, const uint64_t* hook_frame) {
  if (context != nullptr) record_device({DeviceOperation::kEndContext, 0, number(context), kNoAddress, 0}, hook_frame);
}

INLINE void note_array(const void* array, const CudaArray3d& descriptor, uint32_t levels, const uint64_t* hook_frame) {
  const uint32_t device = device_of_context();
  uint64_t size_bytes = levels == 1 ? bytes_of_array(const_cast<void*>(array), device) : 0;
  if (size_bytes == 0) size_bytes = least_bytes(descriptor, levels);
  note_allocation(device, number(array), size_bytes, hook_frame);
}

void** primary_of(int device) {
  return device >= 0 && static_cast<size_t>(device) < sizeof g_primary / sizeof g_primary[0] ? &g_primary[device]
                                                                                             : nullptr;
}

}  // namespace

}  // namespace heapprof::agent

using namespace heapprof::agent;

HOOK int cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  auto* real = REAL(cuGetProcAddress);
  if (real == nullptr) return kCudaNotInitialized;
  const int result = real(name, function, version, flags);
  if (result == kCudaSuccess) replace_found(name, function, version, flags);
  return result;
}

HOOK int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status) {
  auto* real = REAL(cuGetProcAddress_v2);
  if (real == nullptr) return kCudaNotInitialized;
  const int result = real(name, function, version, flags, status);
  if (result == kCudaSuccess) replace_found(name, function, version, flags);
  return result;
}

HOOK int cuMemAlloc_v2(uint64_t* address, size_t size_bytes) {
  const int result = call(REAL(cuMemAlloc_v2), address, size_bytes);
  if (result == kCudaSuccess && address != nullptr)
    note_allocation(device_of_context(), *address, size_bytes, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemAllocPitch_v2(uint64_t* address, size_t* pitch_bytes, size_t width_bytes, size_t height,
                            unsigned element_bytes) {
  const int result = call(REAL(cuMemAllocPitch_v2), address, pitch_bytes, width_bytes, height, element_bytes);
  if (result == kCudaSuccess && address != nullptr && pitch_bytes != nullptr)
    note_allocation(device_of_context(), *address, *pitch_bytes * height, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemAllocManaged(uint64_t* address, size_t size_bytes, unsigned flags) {
  const int result = call(REAL(cuMemAllocManaged), address, size_bytes, flags);
  if (result == kCudaSuccess && address != nullptr)
    note_allocation(heapprof::wire::kManagedDevice, *address, size_bytes, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemHostAlloc(void** block, size_t size_bytes, unsigned flags) {
  const int result = call(REAL(cuMemHostAlloc), block, size_bytes, flags);
  if (result == kCudaSuccess && block != nullptr)
    note_allocation(heapprof::wire::kPinnedDevice, number(*block), size_bytes, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemAllocHost_v2(void** block, size_t size_bytes) {
  const int result = call(REAL(cuMemAllocHost_v2), block, size_bytes);
  if (result == kCudaSuccess && block != nullptr)
    note_allocation(heapprof::wire::kPinnedDevice, number(*block), size_bytes, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuArrayCreate_v2(void** array, const CudaArray2d* descriptor) {
  const int result = call(REAL(cuArrayCreate_v2), array, descriptor);
  if (result == kCudaSuccess && array != nullptr && descriptor != nullptr) {
    const CudaArray3d full{descriptor->width, descriptor->height, 0, descriptor->format, descriptor->channels, 0};
    note_array(*array, full, 1, HEAPPROF_HOOK_FRAME());
  }
  return result;
}

HOOK int cuArray3DCreate_v2(void** array, const CudaArray3d* descriptor) {
  const int result = call(REAL(cuArray3DCreate_v2), array, descriptor);
  if (result == kCudaSuccess && array != nullptr && descriptor != nullptr)
    note_array(*array, *descriptor, 1, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMipmappedArrayCreate(void** array, const CudaArray3d* descriptor, unsigned levels) {
  const int result = call(REAL(cuMipmappedArrayCreate), array, descriptor, levels);
  if (result == kCudaSuccess && array != nullptr && descriptor != nullptr)
    note_array(*array, *descriptor, levels, HEAPPROF_HOOK_FRAME());
  return result;
}

namespace {

// Captured by a graph, an allocation is a node and no memory yet.
INLINE int allocate_async(int (*real)(uint64_t*, size_t, void*), uint64_t* address, size_t size_bytes, void* stream,
                          bool per_thread, const uint64_t* hook_frame) {
  const int result = call(real, address, size_bytes, stream);
  if (result == kCudaSuccess && address != nullptr && !is_capturing(stream, per_thread))
    note_lasting(device_of_pointer(*address), *address, size_bytes, hook_frame);
  return result;
}
INLINE int allocate_from_pool(int (*real)(uint64_t*, size_t, void*, void*), uint64_t* address, size_t size_bytes,
                              void* pool, void* stream, bool per_thread, const uint64_t* hook_frame) {
  const int result = call(real, address, size_bytes, pool, stream);
  if (result == kCudaSuccess && address != nullptr && !is_capturing(stream, per_thread))
    note_lasting(device_of_pointer(*address), *address, size_bytes, hook_frame);
  return result;
}

}  // namespace

HOOK int cuMemAllocAsync(uint64_t* address, size_t size_bytes, void* stream) {
  return allocate_async(REAL(cuMemAllocAsync), address, size_bytes, stream, false, HEAPPROF_HOOK_FRAME());
}
HOOK int cuMemAllocAsync_ptsz(uint64_t* address, size_t size_bytes, void* stream) {
  return allocate_async(REAL(cuMemAllocAsync_ptsz), address, size_bytes, stream, true, HEAPPROF_HOOK_FRAME());
}
HOOK int cuMemAllocFromPoolAsync(uint64_t* address, size_t size_bytes, void* pool, void* stream) {
  return allocate_from_pool(REAL(cuMemAllocFromPoolAsync), address, size_bytes, pool, stream, false,
                            HEAPPROF_HOOK_FRAME());
}
HOOK int cuMemAllocFromPoolAsync_ptsz(uint64_t* address, size_t size_bytes, void* pool, void* stream) {
  return allocate_from_pool(REAL(cuMemAllocFromPoolAsync_ptsz), address, size_bytes, pool, stream, true,
                            HEAPPROF_HOOK_FRAME());
}

namespace {

// Frees `address`. It is recorded before the call, as another thread may have the address when that returns.
template <typename Function, typename... Arguments>
INLINE int release(Function* real, uint64_t address, const uint64_t* hook_frame, Arguments... arguments) {
  if (real == nullptr) return kCudaNotInitialized;
  note_address(DeviceOperation::kRelease, address, hook_frame);
  const int result = real(arguments...);
  if (result != kCudaSuccess) note_address(DeviceOperation::kKeep, address, hook_frame);
  return result;
}

}  // namespace

HOOK int cuMemFree_v2(uint64_t address) { return release(REAL(cuMemFree_v2), address, HEAPPROF_HOOK_FRAME(), address); }
HOOK int cuMemFreeAsync(uint64_t address, void* stream) {
  if (is_capturing(stream, false)) return call(REAL(cuMemFreeAsync), address, stream);
  return release(REAL(cuMemFreeAsync), address, HEAPPROF_HOOK_FRAME(), address, stream);
}
HOOK int cuMemFreeAsync_ptsz(uint64_t address, void* stream) {
  if (is_capturing(stream, true)) return call(REAL(cuMemFreeAsync_ptsz), address, stream);
  return release(REAL(cuMemFreeAsync_ptsz), address, HEAPPROF_HOOK_FRAME(), address, stream);
}
HOOK int cuMemFreeHost(void* block) {
  return release(REAL(cuMemFreeHost), number(block), HEAPPROF_HOOK_FRAME(), block);
}
HOOK int cuArrayDestroy(void* array) {
  return release(REAL(cuArrayDestroy), number(array), HEAPPROF_HOOK_FRAME(), array);
}
HOOK int cuMipmappedArrayDestroy(void* array) {
  return release(REAL(cuMipmappedArrayDestroy), number(array), HEAPPROF_HOOK_FRAME(), array);
}
HOOK int cuIpcCloseMemHandle(uint64_t address) {
  return release(REAL(cuIpcCloseMemHandle), address, HEAPPROF_HOOK_FRAME(), address);
}

namespace {

INLINE int open_imported(int (*real)(uint64_t*, CudaIpcHandle, unsigned), uint64_t* address,
                         const CudaIpcHandle& handle, unsigned flags, const uint64_t* hook_frame) {
  const int result = call(real, address, handle, flags);
  if (result == kCudaSuccess && address != nullptr)
    note_lasting(heapprof::wire::kImportedDevice, *address, bytes_of_pointer(*address), hook_frame);
  return result;
}

}  // namespace

HOOK int cuIpcOpenMemHandle(uint64_t* address, CudaIpcHandle handle, unsigned flags) {
  return open_imported(REAL(cuIpcOpenMemHandle), address, handle, flags, HEAPPROF_HOOK_FRAME());
}
HOOK int cuIpcOpenMemHandle_v2(uint64_t* address, CudaIpcHandle handle, unsigned flags) {
  return open_imported(REAL(cuIpcOpenMemHandle_v2), address, handle, flags, HEAPPROF_HOOK_FRAME());
}

HOOK int cuMemCreate(uint64_t* handle, size_t size_bytes, const CudaAllocationProperties* properties,
                     unsigned long long flags) {
  const int result = call(REAL(cuMemCreate), handle, size_bytes, properties, flags);
  if (result == kCudaSuccess && handle != nullptr && *handle != 0 && properties != nullptr) {
    const bool is_on_device = properties->location_type == kCudaLocationDevice && properties->location_id >= 0 &&
                              properties->location_id < 240;
    const uint32_t device = is_on_device
                                ? heapprof::wire::kFirstCudaDevice + static_cast<uint32_t>(properties->location_id)
                                : heapprof::wire::kPinnedDevice;
    record_device({DeviceOperation::kCreateHandle, device, *handle, kNoAddress, size_bytes}, HEAPPROF_HOOK_FRAME());
  }
  return result;
}

HOOK int cuMemImportFromShareableHandle(uint64_t* handle, void* os_handle, int type) {
  const int result = call(REAL(cuMemImportFromShareableHandle), handle, os_handle, type);
  if (result == kCudaSuccess && handle != nullptr && *handle != 0) {
    record_device({DeviceOperation::kCreateHandle, heapprof::wire::kImportedDevice, *handle, kNoAddress, 0},
                  HEAPPROF_HOOK_FRAME());
  }
  return result;
}

HOOK int cuMemRetainAllocationHandle(uint64_t* handle, void* address) {
  const int result = call(REAL(cuMemRetainAllocationHandle), handle, address);
  if (result == kCudaSuccess && handle != nullptr)
    note_handle(DeviceOperation::kRetainHandle, *handle, HEAPPROF_HOOK_FRAME());
  return result;
}

// Before the call: when it returns, another thread may have the handle's number, or the address.
HOOK int cuMemRelease(uint64_t handle) {
  auto* real = REAL(cuMemRelease);
  if (real == nullptr) return kCudaNotInitialized;
  note_handle(DeviceOperation::kReleaseHandle, handle, HEAPPROF_HOOK_FRAME());
  const int result = real(handle);
  if (result != kCudaSuccess) note_handle(DeviceOperation::kRetainHandle, handle, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemMap(uint64_t address, size_t size_bytes, size_t offset, uint64_t handle, unsigned long long flags) {
  const int result = call(REAL(cuMemMap), address, size_bytes, offset, handle, flags);
  if (result == kCudaSuccess && handle != 0 && address != 0)
    record_device({DeviceOperation::kMap, 0, handle, address, size_bytes}, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemUnmap(uint64_t address, size_t size_bytes) {
  auto* real = REAL(cuMemUnmap);
  if (real == nullptr) return kCudaNotInitialized;
  if (address != 0) record_device({DeviceOperation::kUnmap, 0, 0, address, size_bytes}, HEAPPROF_HOOK_FRAME());
  return real(address, size_bytes);
}

HOOK int cuCtxDestroy_v2(void* context) {
  auto* real = REAL(cuCtxDestroy_v2);
  if (real == nullptr) return kCudaNotInitialized;
  const int result = real(context);
  if (result == kCudaSuccess) note_context_end(context, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuDevicePrimaryCtxRetain(void** context, int device) {
  const int result = call(REAL(cuDevicePrimaryCtxRetain), context, device);
  void** primary = primary_of(device);
  if (result == kCudaSuccess && context != nullptr && primary != nullptr)
    __atomic_store_n(primary, *context, __ATOMIC_RELEASE);
  return result;
}

namespace {

// Ends the device's primary context if `real` did: the last release, or a reset, which leaves the references.
INLINE int end_primary(int (*real)(int), int device, bool is_reset, const uint64_t* hook_frame) {
  const int result = call(real, device);
  void** primary = primary_of(device);
  if (result == kCudaSuccess && primary != nullptr && (is_reset || has_primary_context_ended(device)))
    note_context_end(__atomic_load_n(primary, __ATOMIC_ACQUIRE), hook_frame);
  return result;
}

}  // namespace

HOOK int cuDevicePrimaryCtxRelease(int device) {
  return end_primary(REAL(cuDevicePrimaryCtxRelease), device, false, HEAPPROF_HOOK_FRAME());
}
HOOK int cuDevicePrimaryCtxRelease_v2(int device) {
  return end_primary(REAL(cuDevicePrimaryCtxRelease_v2), device, false, HEAPPROF_HOOK_FRAME());
}
HOOK int cuDevicePrimaryCtxReset(int device) {
  return end_primary(REAL(cuDevicePrimaryCtxReset), device, true, HEAPPROF_HOOK_FRAME());
}
HOOK int cuDevicePrimaryCtxReset_v2(int device) {
  return end_primary(REAL(cuDevicePrimaryCtxReset_v2), device, true, HEAPPROF_HOOK_FRAME());
}

// What the table of routes gives out, whatever the program defines under the public names.
#define X(symbol, base, version, per_thread, params) \
  extern "C" __attribute__((visibility("hidden"), alias(#symbol))) int heapprof_##symbol params;
#include "agent/cuda_functions.def"
#undef X
