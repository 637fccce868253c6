// agent/cuda/hooks_virtual.cc: memory with handles, mapped at addresses of the program's choice, and memory of other
// processes.
#include "agent/cuda/wrapper.h"

using namespace heapprof::agent;

CUDA_HOOK(cuIpcCloseMemHandle)(uint64_t address) {
  return release(REAL(cuIpcCloseMemHandle), address, heapprof::wire::DeviceCall::kFree, HEAPPROF_HOOK_FRAME(), address);
}

namespace {

// Records imported memory; importing the same memory again adds a reference. context: the context that it ends with; 0:
// none.
INLINE int note_imported(int result, const uint64_t* address, uint64_t context, HookFrame hook_frame) {
  if (result == kCudaSuccess && address != nullptr && *address != 0) {
    record_device(
        {DeviceOperation::kAllocate, heapprof::wire::kImportedDevice, context, *address, bytes_of_pointer(*address)},
        hook_frame);
  }
  return result;
}

}  // namespace

CUDA_HOOK(cuIpcOpenMemHandle)(uint64_t* address, CudaIpcHandle handle, unsigned flags) {
  return note_imported(call(REAL(cuIpcOpenMemHandle), address, handle, flags), address, number(current_context()),
                       HEAPPROF_HOOK_FRAME());
}
CUDA_HOOK(cuIpcOpenMemHandle_v2)(uint64_t* address, CudaIpcHandle handle, unsigned flags) {
  return note_imported(call(REAL(cuIpcOpenMemHandle_v2), address, handle, flags), address, number(current_context()),
                       HEAPPROF_HOOK_FRAME());
}
// A block of another process's pool is freed like one of the process's own.
CUDA_HOOK(cuMemPoolImportPointer)(uint64_t* address, void* pool, void* exported) {
  return note_imported(call(REAL(cuMemPoolImportPointer), address, pool, exported), address, 0, HEAPPROF_HOOK_FRAME());
}

// Memory of another API lives as long as its object or mappings, which are freed like the driver's memory.
CUDA_HOOK(cuImportExternalMemory)(void** memory, const CudaExternalMemory* what) {
  const int result = call(REAL(cuImportExternalMemory), memory, what);
  if (result == kCudaSuccess && memory != nullptr && *memory != nullptr && what != nullptr) {
    record_device({DeviceOperation::kCreateHandle, heapprof::wire::kImportedDevice, number(*memory), kNoAddress,
                   what->size_bytes},
                  HEAPPROF_HOOK_FRAME());
  }
  return result;
}
CUDA_HOOK(cuExternalMemoryGetMappedBuffer)(uint64_t* address, void* memory, const CudaExternalBuffer* what) {
  const int result = call(REAL(cuExternalMemoryGetMappedBuffer), address, memory, what);
  if (result == kCudaSuccess && address != nullptr && *address != 0 && what != nullptr) {
    record_device({DeviceOperation::kMap, 0, number(memory), *address, what->size_bytes}, HEAPPROF_HOOK_FRAME());
  }
  return result;
}
CUDA_HOOK(cuExternalMemoryGetMappedMipmappedArray)(void** array, void* memory, const void* what) {
  const int result = call(REAL(cuExternalMemoryGetMappedMipmappedArray), array, memory, what);
  if (result == kCudaSuccess && array != nullptr && *array != nullptr)
    record_device({DeviceOperation::kMap, 0, number(memory), number(*array), 1}, HEAPPROF_HOOK_FRAME());
  return result;
}
CUDA_HOOK(cuDestroyExternalMemory)(void* memory) {
  auto* real = REAL(cuDestroyExternalMemory);
  if (real == nullptr) return kCudaNotInitialized;
  note_handle(DeviceOperation::kReleaseHandle, number(memory), HEAPPROF_HOOK_FRAME());
  const int result = real(memory);
  if (result != kCudaSuccess) note_handle(DeviceOperation::kKeepHandle, number(memory), HEAPPROF_HOOK_FRAME());
  return result;
}

CUDA_HOOK(cuMemCreate)
(uint64_t* handle, size_t size_bytes, const CudaAllocationProperties* properties, unsigned long long flags) {
  auto* real = REAL(cuMemCreate);
  const bool is_on_device = properties != nullptr && properties->location_type == kCudaLocationDevice &&
                            properties->location_id >= 0 && properties->location_id < 240;
  const uint32_t device = is_on_device
                              ? heapprof::wire::kFirstCudaDevice + static_cast<uint32_t>(properties->location_id)
                              : heapprof::wire::kPinnedDevice;
  return allocate(
      {0, device, size_bytes, 0}, DeviceOperation::kCreateHandle, heapprof::wire::DeviceCall::kAllocate,
      HEAPPROF_HOOK_FRAME(), [&] { return call(real, handle, size_bytes, properties, flags); },
      [&] {
        return DeviceMemory{handle == nullptr ? 0 : *handle, device, size_bytes, 0};
      },
      [](uint64_t) {});
}

namespace {

// Records a handle of 0 bytes: its memory counts elsewhere.
INLINE int note_empty_handle(int result, const uint64_t* handle, HookFrame hook_frame) {
  if (result == kCudaSuccess && handle != nullptr && *handle != 0)
    record_device({DeviceOperation::kCreateHandle, heapprof::wire::kImportedDevice, *handle, kNoAddress, 0},
                  hook_frame);
  return result;
}

}  // namespace

CUDA_HOOK(cuMemImportFromShareableHandle)(uint64_t* handle, void* os_handle, int type) {
  return note_empty_handle(call(REAL(cuMemImportFromShareableHandle), handle, os_handle, type), handle,
                           HEAPPROF_HOOK_FRAME());
}
CUDA_HOOK(cuMulticastCreate)(uint64_t* handle, const void* properties) {
  return note_empty_handle(call(REAL(cuMulticastCreate), handle, properties), handle, HEAPPROF_HOOK_FRAME());
}

CUDA_HOOK(cuMemRetainAllocationHandle)(uint64_t* handle, void* address) {
  const int result = call(REAL(cuMemRetainAllocationHandle), handle, address);
  if (result == kCudaSuccess && handle != nullptr) {
    if (has_device_limits()) retain_handle(*handle);
    note_handle(DeviceOperation::kRetainHandle, *handle, HEAPPROF_HOOK_FRAME());
  }
  return result;
}

// The end is recorded before the call: when the call returns, another thread may have the handle's number, or the
// address.
CUDA_HOOK(cuMemRelease)(uint64_t handle) {
  auto* real = REAL(cuMemRelease);
  if (real == nullptr) return kCudaNotInitialized;
  DeviceMemory taken{};
  const bool is_taken = has_device_limits() && take_handle(handle, &taken);
  note_handle(DeviceOperation::kReleaseHandle, handle, HEAPPROF_HOOK_FRAME());
  const int result = real(handle);
  if (result == kCudaSuccess) {
    if (is_taken) return_device_memory(taken.device, taken.size_bytes);
    return result;
  }
  note_handle(DeviceOperation::kKeepHandle, handle, HEAPPROF_HOOK_FRAME());
  if (is_taken) {
    charge_handle(taken);
  } else if (has_device_limits()) {
    retain_handle(handle);
  }
  return result;
}

CUDA_HOOK(cuMemMap)(uint64_t address, size_t size_bytes, size_t offset, uint64_t handle, unsigned long long flags) {
  const int result = call(REAL(cuMemMap), address, size_bytes, offset, handle, flags);
  if (result == kCudaSuccess && handle != 0 && address != 0) {
    if (has_device_limits()) charge_mapping(address, size_bytes, handle);
    record_device({DeviceOperation::kMap, 0, handle, address, size_bytes}, HEAPPROF_HOOK_FRAME());
  }
  return result;
}

CUDA_HOOK(cuMemUnmap)(uint64_t address, size_t size_bytes) {
  auto* real = REAL(cuMemUnmap);
  if (real == nullptr) return kCudaNotInitialized;
  if (address == 0) return real(address, size_bytes);
  if (has_device_limits()) begin_unmapping(address, size_bytes);
  record_device({DeviceOperation::kUnmap, 0, 0, address, size_bytes}, HEAPPROF_HOOK_FRAME());
  const int result = real(address, size_bytes);
  if (result != kCudaSuccess) note_address(DeviceOperation::kKeepMappings, address, HEAPPROF_HOOK_FRAME());
  if (has_device_limits()) end_unmapping(address, size_bytes, result == kCudaSuccess);
  return result;
}
