// agent/hooks_cuda.cc: the wrappers of the CUDA driver's functions: call, then say what began; say what ends, then call.
#include "agent/cuda_driver.h"
#include "agent/cuda_routes.h"
#include "agent/record.h"
#include "shared/events.h"

#include <x86intrin.h>

#define HOOK extern "C" __attribute__((visibility("default"), noinline))

namespace heapprof::agent {

namespace {

using wire::DeviceOperation;

// Primary contexts that the program retained: of which device, how often.
struct PrimaryContext {
  void* context;
  uint32_t retained;
};
PrimaryContext g_primary[64];

// ---- Calls ----

// The driver's function with the type of the wrapper; NAME(arguments).
#define REAL(symbol) reinterpret_cast<decltype(&symbol)>(real_cuda(CudaFunction::symbol))

// A call of the driver, timed.
template <typename Function, typename... Arguments>
int call(Function* real, uint64_t* ticks, Arguments... arguments) {
  if (real == nullptr) return kCudaNotInitialized;
  const uint64_t start = __rdtsc();
  const int result = real(arguments...);
  *ticks = __rdtsc() - start;
  return result;
}

uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

constexpr uint64_t kNoAddress = 8;

// Memory that ends with the calling thread's context.
void note_allocation(uint32_t device, uint64_t address, uint64_t size_bytes, uint64_t ticks,
                     const uint64_t* hook_frame) {
  record_device({DeviceOperation::kAllocate, device, number(current_context()), address, size_bytes, ticks},
                hook_frame);
}
// Memory of a pool, or of somebody else, which no context ends.
void note_lasting(uint32_t device, uint64_t address, uint64_t size_bytes, uint64_t ticks, const uint64_t* hook_frame) {
  record_device({DeviceOperation::kAllocate, device, 0, address, size_bytes, ticks}, hook_frame);
}
void note_address(DeviceOperation operation, uint64_t address, const uint64_t* hook_frame) {
  if (address != 0) record_device({operation, 0, 0, address, 0, 0}, hook_frame);
}
void note_handle(DeviceOperation operation, uint64_t handle, const uint64_t* hook_frame) {
  if (handle != 0) record_device({operation, 0, handle, kNoAddress, 0, 0}, hook_frame);
}
void note_context_end(const void* context, const uint64_t* hook_frame) {
  if (context != nullptr)
    record_device({DeviceOperation::kEndContext, 0, number(context), kNoAddress, 0, 0}, hook_frame);
}

void note_array(const void* array, const CudaArray3d& descriptor, uint32_t levels, uint64_t ticks,
                const uint64_t* hook_frame) {
  const uint32_t device = device_of_context();
  uint64_t size_bytes = levels == 1 ? bytes_of_array(const_cast<void*>(array), device) : 0;
  if (size_bytes == 0) size_bytes = least_bytes(descriptor, levels);
  note_allocation(device, number(array), size_bytes, ticks, hook_frame);
}

PrimaryContext* primary_of(int device) {
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
  uint64_t ticks = 0;
  const int result = call(REAL(cuMemAlloc_v2), &ticks, address, size_bytes);
  if (result == kCudaSuccess && address != nullptr)
    note_allocation(device_of_context(), *address, size_bytes, ticks, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemAllocPitch_v2(uint64_t* address, size_t* pitch_bytes, size_t width_bytes, size_t height,
                            unsigned element_bytes) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuMemAllocPitch_v2), &ticks, address, pitch_bytes, width_bytes, height, element_bytes);
  if (result == kCudaSuccess && address != nullptr && pitch_bytes != nullptr)
    note_allocation(device_of_context(), *address, *pitch_bytes * height, ticks, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemAllocManaged(uint64_t* address, size_t size_bytes, unsigned flags) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuMemAllocManaged), &ticks, address, size_bytes, flags);
  if (result == kCudaSuccess && address != nullptr)
    note_allocation(heapprof::wire::kManagedDevice, *address, size_bytes, ticks, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemHostAlloc(void** block, size_t size_bytes, unsigned flags) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuMemHostAlloc), &ticks, block, size_bytes, flags);
  if (result == kCudaSuccess && block != nullptr)
    note_allocation(heapprof::wire::kPinnedDevice, number(*block), size_bytes, ticks, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemAllocHost_v2(void** block, size_t size_bytes) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuMemAllocHost_v2), &ticks, block, size_bytes);
  if (result == kCudaSuccess && block != nullptr)
    note_allocation(heapprof::wire::kPinnedDevice, number(*block), size_bytes, ticks, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuArrayCreate_v2(void** array, const CudaArray2d* descriptor) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuArrayCreate_v2), &ticks, array, descriptor);
  if (result == kCudaSuccess && array != nullptr && descriptor != nullptr) {
    const CudaArray3d full{descriptor->width, descriptor->height, 0, descriptor->format, descriptor->channels, 0};
    note_array(*array, full, 1, ticks, HEAPPROF_HOOK_FRAME());
  }
  return result;
}

HOOK int cuArray3DCreate_v2(void** array, const CudaArray3d* descriptor) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuArray3DCreate_v2), &ticks, array, descriptor);
  if (result == kCudaSuccess && array != nullptr && descriptor != nullptr)
    note_array(*array, *descriptor, 1, ticks, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMipmappedArrayCreate(void** array, const CudaArray3d* descriptor, unsigned levels) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuMipmappedArrayCreate), &ticks, array, descriptor, levels);
  if (result == kCudaSuccess && array != nullptr && descriptor != nullptr)
    note_array(*array, *descriptor, levels, ticks, HEAPPROF_HOOK_FRAME());
  return result;
}

namespace {

// Captured by a graph, an allocation is a node and no memory yet.
int allocate_async(int (*real)(uint64_t*, size_t, void*), uint64_t* address, size_t size_bytes, void* stream,
                   bool per_thread, const uint64_t* hook_frame) {
  uint64_t ticks = 0;
  const int result = call(real, &ticks, address, size_bytes, stream);
  if (result == kCudaSuccess && address != nullptr && !is_capturing(stream, per_thread))
    note_lasting(device_of_pointer(*address), *address, size_bytes, ticks, hook_frame);
  return result;
}
int allocate_from_pool(int (*real)(uint64_t*, size_t, void*, void*), uint64_t* address, size_t size_bytes, void* pool,
                       void* stream, bool per_thread, const uint64_t* hook_frame) {
  uint64_t ticks = 0;
  const int result = call(real, &ticks, address, size_bytes, pool, stream);
  if (result == kCudaSuccess && address != nullptr && !is_capturing(stream, per_thread))
    note_lasting(device_of_pointer(*address), *address, size_bytes, ticks, hook_frame);
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
int release(Function* real, uint64_t address, const uint64_t* hook_frame, Arguments... arguments) {
  if (real == nullptr) return kCudaNotInitialized;
  note_address(DeviceOperation::kRelease, address, hook_frame);
  const int result = real(arguments...);
  if (result != kCudaSuccess) note_address(DeviceOperation::kKeep, address, hook_frame);
  return result;
}

}  // namespace

HOOK int cuMemFree_v2(uint64_t address) { return release(REAL(cuMemFree_v2), address, HEAPPROF_HOOK_FRAME(), address); }
HOOK int cuMemFreeAsync(uint64_t address, void* stream) {
  if (is_capturing(stream, false)) return REAL(cuMemFreeAsync)(address, stream);
  return release(REAL(cuMemFreeAsync), address, HEAPPROF_HOOK_FRAME(), address, stream);
}
HOOK int cuMemFreeAsync_ptsz(uint64_t address, void* stream) {
  if (is_capturing(stream, true)) return REAL(cuMemFreeAsync_ptsz)(address, stream);
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

HOOK int cuIpcOpenMemHandle_v2(uint64_t* address, CudaIpcHandle handle, unsigned flags) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuIpcOpenMemHandle_v2), &ticks, address, handle, flags);
  if (result == kCudaSuccess && address != nullptr)
    note_lasting(heapprof::wire::kImportedDevice, *address, bytes_of_pointer(*address), ticks, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemCreate(uint64_t* handle, size_t size_bytes, const CudaAllocationProperties* properties,
                     unsigned long long flags) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuMemCreate), &ticks, handle, size_bytes, properties, flags);
  if (result == kCudaSuccess && handle != nullptr && properties != nullptr) {
    const bool is_on_device = properties->location_type == kCudaLocationDevice && properties->location_id >= 0 &&
                              properties->location_id < 240;
    const uint32_t device = is_on_device
                                ? heapprof::wire::kFirstCudaDevice + static_cast<uint32_t>(properties->location_id)
                                : heapprof::wire::kPinnedDevice;
    record_device({DeviceOperation::kCreateHandle, device, *handle, kNoAddress, size_bytes, ticks},
                  HEAPPROF_HOOK_FRAME());
  }
  return result;
}

HOOK int cuMemImportFromShareableHandle(uint64_t* handle, void* os_handle, int type) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuMemImportFromShareableHandle), &ticks, handle, os_handle, type);
  if (result == kCudaSuccess && handle != nullptr) {
    record_device({DeviceOperation::kCreateHandle, heapprof::wire::kImportedDevice, *handle, kNoAddress, 0, ticks},
                  HEAPPROF_HOOK_FRAME());
  }
  return result;
}

HOOK int cuMemRetainAllocationHandle(uint64_t* handle, void* address) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuMemRetainAllocationHandle), &ticks, handle, address);
  if (result == kCudaSuccess && handle != nullptr)
    note_handle(DeviceOperation::kRetainHandle, *handle, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemRelease(uint64_t handle) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuMemRelease), &ticks, handle);
  if (result == kCudaSuccess) note_handle(DeviceOperation::kReleaseHandle, handle, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemMap(uint64_t address, size_t size_bytes, size_t offset, uint64_t handle, unsigned long long flags) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuMemMap), &ticks, address, size_bytes, offset, handle, flags);
  if (result == kCudaSuccess)
    record_device({DeviceOperation::kMap, 0, handle, address, size_bytes, ticks}, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuMemUnmap(uint64_t address, size_t size_bytes) {
  uint64_t ticks = 0;
  const int result = call(REAL(cuMemUnmap), &ticks, address, size_bytes);
  if (result == kCudaSuccess)
    record_device({DeviceOperation::kUnmap, 0, 0, address, size_bytes, ticks}, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuCtxDestroy_v2(void* context) {
  auto* real = REAL(cuCtxDestroy_v2);
  if (real == nullptr) return kCudaNotInitialized;
  const int result = real(context);
  if (result == kCudaSuccess) note_context_end(context, HEAPPROF_HOOK_FRAME());
  return result;
}

HOOK int cuDevicePrimaryCtxRetain(void** context, int device) {
  auto* real = REAL(cuDevicePrimaryCtxRetain);
  if (real == nullptr) return kCudaNotInitialized;
  const int result = real(context, device);
  PrimaryContext* primary = primary_of(device);
  if (result == kCudaSuccess && context != nullptr && primary != nullptr) {
    __atomic_store_n(&primary->context, *context, __ATOMIC_RELEASE);
    __atomic_fetch_add(&primary->retained, 1, __ATOMIC_ACQ_REL);
  }
  return result;
}

// The last release ends the context.
HOOK int cuDevicePrimaryCtxRelease_v2(int device) {
  auto* real = REAL(cuDevicePrimaryCtxRelease_v2);
  if (real == nullptr) return kCudaNotInitialized;
  const int result = real(device);
  PrimaryContext* primary = primary_of(device);
  if (result == kCudaSuccess && primary != nullptr && __atomic_load_n(&primary->retained, __ATOMIC_ACQUIRE) != 0 &&
      __atomic_fetch_sub(&primary->retained, 1, __ATOMIC_ACQ_REL) == 1) {
    note_context_end(primary->context, HEAPPROF_HOOK_FRAME());
  }
  return result;
}

// Resets, and leaves the number of references.
HOOK int cuDevicePrimaryCtxReset_v2(int device) {
  auto* real = REAL(cuDevicePrimaryCtxReset_v2);
  if (real == nullptr) return kCudaNotInitialized;
  const int result = real(device);
  const PrimaryContext* primary = primary_of(device);
  if (result == kCudaSuccess && primary != nullptr) note_context_end(primary->context, HEAPPROF_HOOK_FRAME());
  return result;
}
