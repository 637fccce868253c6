// tests/fake_cuda/fake_cuda.h: the part of the CUDA driver's interface that the fake driver has, and what tests may ask
// of it besides.
//
// Types are those of cuda.h 13.0 as far as their layout goes.
#pragma once

#include "agent/cuda/driver.h"

#include <stddef.h>
#include <stdint.h>

using heapprof::agent::CudaAllocationNode;
using heapprof::agent::CudaBatchCopy3d;
using heapprof::agent::CudaCopy2d;
using heapprof::agent::CudaCopy3d;
using heapprof::agent::CudaExternalBuffer;
using heapprof::agent::CudaExternalMemory;
using heapprof::agent::CudaLaunchConfiguration;
using heapprof::agent::CudaNode;

// A hash of a call's arguments, in order.
template <typename... Arguments>
uint64_t hash_of(Arguments... arguments) {
  uint64_t hash = 1469598103934665603u;
  [[maybe_unused]] const auto mix = [&hash](uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  (mix((uint64_t)arguments), ...);
  return hash;
}

extern "C" {

struct CUctx_st;
struct CUarray_st;
struct CUstream_st;
struct CUpool_st;
using CUcontext = CUctx_st*;
using CUarray = CUarray_st*;
using CUstream = CUstream_st*;
using CUmemoryPool = CUpool_st*;
using CUdeviceptr = uint64_t;
using CUhandle = uint64_t;
struct CudaArrayDescriptor {
  size_t width, height;
  uint32_t format, channels;
};
struct CudaArray3dDescriptor {
  size_t width, height, depth;
  uint32_t format, channels, flags;
};
struct CudaProperties {
  uint32_t type, handle_types, location_type;
  int32_t location_id;
  void* windows;
  uint64_t flags;
};
struct CudaIpc {
  char bytes[64];
};

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNotInitialized = 3;
constexpr int kInvalidDevice = 101;
constexpr int kInvalidContext = 201;
constexpr int kNotFound = 500;
// Functions that only answer leave this in errno, as a driver may. Those that allocate and free leave errno alone.
constexpr int kErrnoOfQuestions = 77;

// X(name, params): every function that the fake driver exports and a program may call.
#define FAKE_CUDA_FUNCTIONS(X)                                                                                      \
  X(cuInit, (unsigned flags))                                                                                       \
  X(cuDriverGetVersion, (int* version))                                                                             \
  X(cuDeviceGetCount, (int* count))                                                                                 \
  X(cuDeviceGet, (int* device, int ordinal))                                                                        \
  X(cuCtxCreate_v2, (CUcontext * context, unsigned flags, int device))                                              \
  X(cuStreamCreate, (CUstream * stream, unsigned flags))                                                            \
  X(cuCtxSetCurrent, (CUcontext context))                                                                           \
  X(cuCtxGetCurrent, (CUcontext * context))                                                                         \
  X(cuCtxGetDevice, (int* device))                                                                                  \
  X(cuCtxPushCurrent_v2, (CUcontext context))                                                                       \
  X(cuCtxPopCurrent_v2, (CUcontext * context))                                                                      \
  X(cuCtxSetLimit, (int limit, size_t value))                                                                       \
  X(cuModuleLoadData, (void** module, const void* image))                                                           \
  X(cuModuleGetFunction, (void** function, void* module, const char* name))                                         \
  X(cuLibraryLoadData, (void** library, const void* code, void* jit_options, void** jit_values, unsigned jit_count, \
                        void* options, void** values, unsigned count))                                              \
  X(cuLibraryGetKernel, (void** kernel, void* library, const char* name))                                           \
  X(cuLibraryGetKernelCount, (unsigned* count, void* library))                                                      \
  X(cuLibraryEnumerateKernels, (void** kernels, unsigned most, void* library))                                      \
  X(cuModuleGetFunctionCount, (unsigned* count, void* module))                                                      \
  X(cuModuleEnumerateFunctions, (void** functions, unsigned most, void* module))                                    \
  X(cuKernelGetFunction, (void** function, void* kernel))                                                           \
  X(cuFuncGetName, (const char** name, const void* function))                                                       \
  X(cuKernelGetName, (const char** name, const void* kernel))                                                       \
  X(cuEventCreate, (void** event, unsigned flags))                                                                  \
  X(cuEventDestroy_v2, (void* event))                                                                               \
  X(cuEventQuery, (void* event))                                                                                    \
  X(cuEventElapsedTime, (float* milliseconds, void* begin, void* end))                                              \
  X(cuGraphGetNodes, (void* graph, void** nodes, size_t* count))                                                    \
  X(cuGraphNodeGetType, (void* node, int* type))                                                                    \
  X(cuCtxDestroy_v2, (CUcontext context))                                                                           \
  X(cuDevicePrimaryCtxRetain, (CUcontext * context, int device))                                                    \
  X(cuDevicePrimaryCtxRelease_v2, (int device))                                                                     \
  X(cuDevicePrimaryCtxReset_v2, (int device))                                                                       \
  X(cuDevicePrimaryCtxGetState, (int device, unsigned* flags, int* active))                                         \
  X(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                                                           \
  X(cuMemAllocPitch_v2, (CUdeviceptr * address, size_t * pitch, size_t width, size_t height, unsigned element))     \
  X(cuMemFree_v2, (CUdeviceptr address))                                                                            \
  X(cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned flags))                                       \
  X(cuMemHostAlloc, (void** block, size_t bytes, unsigned flags))                                                   \
  X(cuMemAllocHost_v2, (void** block, size_t bytes))                                                                \
  X(cuMemFreeHost, (void* block))                                                                                   \
  X(cuArrayCreate_v2, (CUarray * array, const CudaArrayDescriptor* descriptor))                                     \
  X(cuArray3DCreate_v2, (CUarray * array, const CudaArray3dDescriptor* descriptor))                                 \
  X(cuArrayDestroy, (CUarray array))                                                                                \
  X(cuMipmappedArrayCreate, (CUarray * array, const CudaArray3dDescriptor* descriptor, unsigned levels))            \
  X(cuMipmappedArrayDestroy, (CUarray array))                                                                       \
  X(cuMemAllocAsync, (CUdeviceptr * address, size_t bytes, CUstream stream))                                        \
  X(cuMemAllocAsync_ptsz, (CUdeviceptr * address, size_t bytes, CUstream stream))                                   \
  X(cuMemAllocFromPoolAsync, (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream))             \
  X(cuMemAllocFromPoolAsync_ptsz, (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream))        \
  X(cuMemFreeAsync, (CUdeviceptr address, CUstream stream))                                                         \
  X(cuMemFreeAsync_ptsz, (CUdeviceptr address, CUstream stream))                                                    \
  X(cuMemCreate, (CUhandle * handle, size_t bytes, const CudaProperties* properties, unsigned long long flags))     \
  X(cuMemRelease, (CUhandle handle))                                                                                \
  X(cuMemRetainAllocationHandle, (CUhandle * handle, void* address))                                                \
  X(cuMemAddressReserve,                                                                                            \
    (CUdeviceptr * address, size_t bytes, size_t alignment, CUdeviceptr hint, unsigned long long flags))            \
  X(cuMemMap, (CUdeviceptr address, size_t bytes, size_t offset, CUhandle handle, unsigned long long flags))        \
  X(cuMemUnmap, (CUdeviceptr address, size_t bytes))                                                                \
  X(cuMulticastCreate, (CUhandle * handle, const void* properties))                                                 \
  X(cuIpcOpenMemHandle_v2, (CUdeviceptr * address, CudaIpc handle, unsigned flags))                                 \
  X(cuMemPoolImportPointer, (CUdeviceptr * address, CUmemoryPool pool, void* exported))                             \
  X(cuImportExternalMemory, (void** memory, const CudaExternalMemory* what))                                        \
  X(cuExternalMemoryGetMappedBuffer, (CUdeviceptr * address, void* memory, const CudaExternalBuffer* what))         \
  X(cuExternalMemoryGetMappedMipmappedArray, (void** array, void* memory, const void* what))                        \
  X(cuDestroyExternalMemory, (void* memory))                                                                        \
  X(cuIpcCloseMemHandle, (CUdeviceptr address))                                                                     \
  X(cuMemGetAddressRange_v2, (CUdeviceptr * base, size_t * bytes, CUdeviceptr address))                             \
  X(cuPointerGetAttribute, (void* data, int attribute, CUdeviceptr address))                                        \
  X(cuStreamGetDevice, (CUstream stream, int* device))                                                              \
  X(cuStreamIsCapturing, (CUstream stream, int* status))                                                            \
  X(cuStreamIsCapturing_ptsz, (CUstream stream, int* status))                                                       \
  X(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, int device))                                                   \
  X(cuDeviceGetMemPool, (CUmemoryPool * pool, int device))                                                          \
  X(cuDeviceSetMemPool, (int device, CUmemoryPool pool))                                                            \
  X(cuMemPoolCreate, (CUmemoryPool * pool, const CudaProperties* properties))                                       \
  X(cuMemPoolDestroy, (CUmemoryPool pool))                                                                          \
  X(cuMemPoolTrimTo, (CUmemoryPool pool, size_t least))                                                             \
  X(cuMemPoolGetAttribute, (CUmemoryPool pool, int attribute, void* value))                                         \
  X(cuMemPoolSetAttribute, (CUmemoryPool pool, int attribute, void* value))                                         \
  X(cuThreadExchangeStreamCaptureMode, (int* mode))                                                                 \
  X(cuStreamBeginCapture_v2, (CUstream stream, int mode))                                                           \
  X(cuStreamEndCapture, (CUstream stream, void** graph))                                                            \
  X(cuGraphCreate, (void** graph, unsigned flags))                                                                  \
  X(cuGraphAddMemAllocNode,                                                                                         \
    (void** node, void* graph, const void* dependencies, size_t count, CudaAllocationNode* parameters))             \
  X(cuGraphAddNode, (void** node, void* graph, const void* dependencies, size_t count, CudaNode* parameters))       \
  X(cuGraphAddNode_v2,                                                                                              \
    (void** node, void* graph, const void* dependencies, const void* edges, size_t count, CudaNode* parameters))    \
  X(cuGraphInstantiateWithFlags, (void** executable, void* graph, unsigned long long flags))                        \
  X(cuGraphInstantiateWithParams, (void** executable, void* graph, void* parameters))                               \
  X(cuGraphUpload, (void* executable, CUstream stream))                                                             \
  X(cuGraphExecDestroy, (void* executable))                                                                         \
  X(cuDeviceGraphMemTrim, (int device))                                                                             \
  X(cuDeviceGetGraphMemAttribute, (int device, int attribute, void* value))                                         \
  X(cuDeviceSetGraphMemAttribute, (int device, int attribute, void* value))                                         \
  X(cuMemHostRegister_v2, (void* block, size_t bytes, unsigned flags))                                              \
  X(cuMemHostUnregister, (void* block))                                                                             \
  X(cuMemGetInfo_v2, (size_t * free_bytes, size_t * total_bytes))                                                   \
  X(cuDeviceTotalMem_v2, (size_t * bytes, int device))                                                              \
  X(cuDeviceGetUuid, (char* uuid, int device))                                                                      \
  X(cuDeviceGetPCIBusId, (char* text, int bytes, int device))                                                       \
  X(cuDeviceGetName, (char* text, int bytes, int device))                                                           \
  X(cuGetProcAddress, (const char* name, void** function, int version, uint64_t flags))                             \
  X(cuGetProcAddress_v2, (const char* name, void** function, int version, uint64_t flags, int* status))

#define X(name, params) int name params;
FAKE_CUDA_FUNCTIONS(X)
#undef X
#define X(symbol, base, version, per_thread, kind, bytes, params, args) int symbol params;
HEAPPROF_CUDA_CALLS(X)
#undef X
#define X(symbol, base, version, per_thread, params, args) int symbol params;
HEAPPROF_CUDA_LAUNCHES(X)
#undef X

// The next call of the function fails with this result, and has no effect.
void fake_cuda_fail_next(const char* function, int result);
// The next call of the function takes this long.
void fake_cuda_slow_next(const char* function, unsigned duration_us);
// Calls of a function so far, as the driver saw them.
long fake_cuda_calls(const char* function);
// From now on each kernel takes so long on the device; 1 µs at first.
void fake_cuda_kernel_ns(uint64_t duration_ns);
// Devices have done what they were given, and nobody has waited for it.
void fake_cuda_finish();
// So much time passes on the host, and so on devices that have nothing to do.
void fake_cuda_pass_ns(uint64_t duration_ns);
// hash_of what the function was given last.
uint64_t fake_cuda_arguments(const char* function);
// Streams with this address are being captured.
extern CUstream fake_cuda_capturing;
}
