// agent/cuda/hooks_context.cc: contexts, whose end frees what was allocated in them; queries of memory sizes; and the
// driver's own look-up of functions.
#include "agent/cuda/estimate.h"
#include "agent/cuda/holdings.h"

namespace heapprof::agent {

namespace {

void* g_primary[64];  // primary contexts by device, as the driver returned them

void** primary_of(int device) {
  return device >= 0 && static_cast<size_t>(device) < sizeof g_primary / sizeof g_primary[0] ? &g_primary[device]
                                                                                             : nullptr;
}

}  // namespace

}  // namespace heapprof::agent

using namespace heapprof::agent;

CUDA_HOOK(cuGetProcAddress)(const char* name, void** function, int version, uint64_t flags) {
  auto* real = REAL(cuGetProcAddress);
  if (real == nullptr) return kCudaNotInitialized;
  const int result = real(name, function, version, flags);
  if (result != kCudaSuccess) return result;
  replace_found(name, function, version, flags, reinterpret_cast<const void*>(real), [&](int known) {
    void* found = nullptr;
    return real(name, &found, known, flags) == kCudaSuccess ? found : nullptr;
  });
  return result;
}

CUDA_HOOK(cuGetProcAddress_v2)(const char* name, void** function, int version, uint64_t flags, int* status) {
  auto* real = REAL(cuGetProcAddress_v2);
  if (real == nullptr) return kCudaNotInitialized;
  const int result = real(name, function, version, flags, status);
  if (result != kCudaSuccess) return result;
  replace_found(name, function, version, flags, reinterpret_cast<const void*>(real), [&](int known) {
    void* found = nullptr;
    int known_status = 0;
    return real(name, &found, known, flags, &known_status) == kCudaSuccess ? found : nullptr;
  });
  return result;
}

CUDA_HOOK(cuCtxDestroy_v2)(void* context) {
  auto* real = REAL(cuCtxDestroy_v2);
  if (real == nullptr) return kCudaNotInitialized;
  return end_context(
      context, HEAPPROF_HOOK_FRAME(), [&] { return real(context); }, [] { return true; });
}

CUDA_HOOK(cuDevicePrimaryCtxRetain)(void** context, int device) {
  const auto retain = [&] { return call(REAL(cuDevicePrimaryCtxRetain), context, device); };
  const int result = estimates_gpu() && has_primary_context_ended(device)
                         ? estimate_context(context, device, HEAPPROF_HOOK_FRAME(), retain)
                         : retain();
  void** primary = primary_of(device);
  if (result == kCudaSuccess && context != nullptr && primary != nullptr)
    __atomic_store_n(primary, *context, __ATOMIC_RELEASE);
  return result;
}

namespace {

// Calls `real`, and records the end of the device's primary context if the call ended it: the last release does, and so
// does any reset, which keeps the references.
INLINE int end_primary(int (*real)(int), int device, bool is_reset, HookFrame hook_frame) {
  if (is_reset) leave_pools_of(device_of_ordinal(device));
  void** primary = primary_of(device);
  return end_context(
      primary == nullptr ? nullptr : __atomic_load_n(primary, __ATOMIC_ACQUIRE), hook_frame,
      [&] { return call(real, device); }, [&] { return is_reset || has_primary_context_ended(device); });
}

}  // namespace

CUDA_HOOK(cuDevicePrimaryCtxRelease)(int device) {
  return end_primary(REAL(cuDevicePrimaryCtxRelease), device, false, HEAPPROF_HOOK_FRAME());
}
CUDA_HOOK(cuDevicePrimaryCtxRelease_v2)(int device) {
  return end_primary(REAL(cuDevicePrimaryCtxRelease_v2), device, false, HEAPPROF_HOOK_FRAME());
}
CUDA_HOOK(cuDevicePrimaryCtxReset)(int device) {
  return end_primary(REAL(cuDevicePrimaryCtxReset), device, true, HEAPPROF_HOOK_FRAME());
}
CUDA_HOOK(cuDevicePrimaryCtxReset_v2)(int device) {
  return end_primary(REAL(cuDevicePrimaryCtxReset_v2), device, true, HEAPPROF_HOOK_FRAME());
}

// Reports a card as large as the limit. This and refusals are the only exceptions to "results are the driver's".
CUDA_HOOK(cuMemGetInfo_v2)(size_t* free_bytes, size_t* total_bytes) {
  const int result = call(REAL(cuMemGetInfo_v2), free_bytes, total_bytes);
  if (result != kCudaSuccess || !has_device_limits()) return result;
  const uint32_t device = device_of_context();
  const uint64_t limit = device_limit(device);
  const uint64_t charged = charged_device_memory(device);
  const uint64_t left = charged < limit ? limit - charged : 0;
  if (free_bytes != nullptr && left < *free_bytes) *free_bytes = left;
  if (total_bytes != nullptr && limit < *total_bytes) *total_bytes = limit;
  return result;
}

CUDA_HOOK(cuDeviceTotalMem_v2)(size_t* bytes, int device) {
  const int result = call(REAL(cuDeviceTotalMem_v2), bytes, device);
  const uint64_t limit =
      device < 0 ? UINT64_MAX : device_limit(heapprof::wire::kFirstCudaDevice + static_cast<uint32_t>(device));
  if (result == kCudaSuccess && bytes != nullptr && limit < *bytes) *bytes = limit;
  return result;
}
