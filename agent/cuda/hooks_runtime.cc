// agent/cuda/hooks_runtime.cc: the wrappers of the runtime's functions, four of each.
//
// A process may have several runtimes, each with errors and streams of its own: a wrapper must call the intended one.
// So there is a set of wrappers for each version, found by the loader, and one for any other runtime, found by dlsym.
#include "agent/cuda/runtime.h"
#include "agent/cuda/wrapper.h"
#include "agent/process/link_map.h"
#include "agent/process/loaded_object.h"

#include <string.h>

// The symbol versions that programs request; each is named like its library.
#define HEAPPROF_CUDART_0 "libcudart.so.11.0"
#define HEAPPROF_CUDART_1 "libcudart.so.12"
#define HEAPPROF_CUDART_2 "libcudart.so.13"

namespace heapprof::agent {

constinit thread_local uint32_t t_driver_calls __attribute__((tls_model("initial-exec"))) = 0;

namespace {

enum class RuntimeFunction : size_t {
#define X(name, params, ...) name,
#include "agent/cuda/runtime.def"
#undef X
  kCount
};
constexpr size_t kFunctions = static_cast<size_t>(RuntimeFunction::kCount);
constexpr const char* kNames[kFunctions] = {
#define X(name, params, ...) #name,
#include "agent/cuda/runtime.def"
#undef X
};
constexpr const char* kVersions[] = {HEAPPROF_CUDART_0, HEAPPROF_CUDART_1, HEAPPROF_CUDART_2};
constexpr size_t kVersioned = sizeof kVersions / sizeof kVersions[0];
constexpr size_t kRuntimes = kVersioned + 1;  // the last: found by dlsym

void* g_real_runtime[kRuntimes][kFunctions];
void* g_get_device;
uint32_t g_unseen;  // 1: something was counted here, and its end may have to be recorded

void* real_runtime(size_t runtime, size_t function) {
  void*& real = g_real_runtime[runtime][function];
  void* known = __atomic_load_n(&real, __ATOMIC_ACQUIRE);
  if (known != nullptr || runtime >= kVersioned) return known;
  return find_late_behind_agent({kNames[function], kVersions[runtime], kVersions[runtime]}, &real);
}

template <size_t kRuntime, RuntimeFunction kFunction, typename... Arguments>
INLINE int call_real(Arguments... arguments) {
  void* real = real_runtime(kRuntime, static_cast<size_t>(kFunction));
  return real == nullptr ? kCudaNotInitialized : reinterpret_cast<int (*)(Arguments...)>(real)(arguments...);
}

// The runtime's current device: if a runtime does not use the driver, only the runtime knows it.
uint32_t device_of_runtime() {
  void* get_device = __atomic_load_n(&g_get_device, __ATOMIC_ACQUIRE);
  if (get_device == nullptr) {
    get_device = find_late_behind_agent({"cudaGetDevice", nullptr, nullptr}, &g_get_device);
  }
  int ordinal = -1;
  if (!ask_function(get_device, &ordinal) || ordinal < 0 ||
      static_cast<uint32_t>(ordinal) > wire::kLastCudaDevice - wire::kFirstCudaDevice) {
    return device_of_context();
  }
  return wire::kFirstCudaDevice + static_cast<uint32_t>(ordinal);
}

constexpr uint32_t kCurrentDevice = 0;  // "ask device_of_runtime()"

// Makes an allocating call, and counts it if no driver call was seen in it. find() returns the memory obtained; its key
// is 0 if nothing was obtained.
template <typename Call, typename Find>
INLINE int allocate_unseen(uint32_t device, HookFrame hook_frame, Call&& call_runtime, Find&& find) {
  const uint32_t before = t_driver_calls;
  const int result = call_runtime();
  if (result != kCudaSuccess || t_driver_calls != before) return result;
  DeviceMemory memory = find();
  if (memory.key == 0) return result;
  ++t_driver_calls;  // this call may be inside another, which must not count the memory again
  __atomic_store_n(&g_unseen, 1, __ATOMIC_RELAXED);
  memory.device = device != kCurrentDevice ? device : device_of_runtime();
  announce_device(memory.device);
  record_device({DeviceOperation::kAllocateUnseen, memory.device, 0, memory.key, memory.size_bytes}, hook_frame);
  return result;
}

template <typename Call>
INLINE int allocate_unseen_block(uint32_t device, void** block, size_t size_bytes, HookFrame hook_frame,
                                 Call&& call_runtime) {
  return allocate_unseen(device, hook_frame, call_runtime, [&] {
    return DeviceMemory{block == nullptr ? 0 : number(*block), 0, size_bytes, 0};
  });
}

template <typename Call>
INLINE int release_unseen(void* block, HookFrame hook_frame, Call&& call_runtime) {
  if (__atomic_load_n(&g_unseen, __ATOMIC_RELAXED) == 0 || block == nullptr) return call_runtime();
  const uint32_t before = t_driver_calls;
  note_address(DeviceOperation::kReleaseUnseen, number(block), hook_frame);
  const int result = call_runtime();
  if (result != kCudaSuccess && t_driver_calls == before)
    note_address(DeviceOperation::kKeep, number(block), hook_frame);
  return result;
}

// A graph node is no memory yet.
template <typename Call>
INLINE int allocate_unseen_async(void** block, size_t size_bytes, void* stream, bool per_thread, HookFrame hook_frame,
                                 Call&& call_runtime) {
  if (is_capturing(stream, per_thread)) return call_runtime();
  return allocate_unseen_block(kCurrentDevice, block, size_bytes, hook_frame, call_runtime);
}
template <typename Call>
INLINE int release_unseen_async(void* block, void* stream, bool per_thread, HookFrame hook_frame, Call&& call_runtime) {
  return is_capturing(stream, per_thread) ? call_runtime() : release_unseen(block, hook_frame, call_runtime);
}

// One function for each of runtime.def; after hook_frame and call_runtime it takes that function's parameters.
template <typename Call>
INLINE int hook_cudaMalloc(HookFrame hook_frame, Call&& call_runtime, void** block, size_t size_bytes) {
  return allocate_unseen_block(kCurrentDevice, block, size_bytes, hook_frame, call_runtime);
}
template <typename Call>
INLINE int hook_cudaFree(HookFrame hook_frame, Call&& call_runtime, void* block) {
  return release_unseen(block, hook_frame, call_runtime);
}
template <typename Call>
INLINE int hook_cudaMallocHost(HookFrame hook_frame, Call&& call_runtime, void** block, size_t size_bytes) {
  return allocate_unseen_block(wire::kPinnedDevice, block, size_bytes, hook_frame, call_runtime);
}
template <typename Call>
INLINE int hook_cudaHostAlloc(HookFrame hook_frame, Call&& call_runtime, void** block, size_t size_bytes, unsigned) {
  return allocate_unseen_block(wire::kPinnedDevice, block, size_bytes, hook_frame, call_runtime);
}
template <typename Call>
INLINE int hook_cudaFreeHost(HookFrame hook_frame, Call&& call_runtime, void* block) {
  return release_unseen(block, hook_frame, call_runtime);
}
template <typename Call>
INLINE int hook_cudaMallocManaged(HookFrame hook_frame, Call&& call_runtime, void** block, size_t size_bytes,
                                  unsigned) {
  return allocate_unseen_block(wire::kManagedDevice, block, size_bytes, hook_frame, call_runtime);
}
template <typename Call>
INLINE int hook_cudaMallocPitch(HookFrame hook_frame, Call&& call_runtime, void** block, size_t* pitch_bytes, size_t,
                                size_t height) {
  return allocate_unseen(kCurrentDevice, hook_frame, call_runtime, [&] {
    if (block == nullptr || pitch_bytes == nullptr) return DeviceMemory{};
    return DeviceMemory{number(*block), 0, *pitch_bytes * height, 0};
  });
}
template <typename Call>
INLINE int hook_cudaMalloc3D(HookFrame hook_frame, Call&& call_runtime, CudaPitched* block, CudaExtent extent) {
  return allocate_unseen(kCurrentDevice, hook_frame, call_runtime, [&] {
    if (block == nullptr) return DeviceMemory{};
    return DeviceMemory{number(block->block), 0, block->pitch_bytes * extent.height * extent.depth, 0};
  });
}
template <typename Call>
INLINE int hook_cudaMallocAsync(HookFrame hook_frame, Call&& call_runtime, void** block, size_t size_bytes,
                                void* stream) {
  return allocate_unseen_async(block, size_bytes, stream, false, hook_frame, call_runtime);
}
template <typename Call>
INLINE int hook_cudaMallocAsync_ptsz(HookFrame hook_frame, Call&& call_runtime, void** block, size_t size_bytes,
                                     void* stream) {
  return allocate_unseen_async(block, size_bytes, stream, true, hook_frame, call_runtime);
}
template <typename Call>
INLINE int hook_cudaMallocFromPoolAsync(HookFrame hook_frame, Call&& call_runtime, void** block, size_t size_bytes,
                                        void*, void* stream) {
  return allocate_unseen_async(block, size_bytes, stream, false, hook_frame, call_runtime);
}
template <typename Call>
INLINE int hook_cudaMallocFromPoolAsync_ptsz(HookFrame hook_frame, Call&& call_runtime, void** block, size_t size_bytes,
                                             void*, void* stream) {
  return allocate_unseen_async(block, size_bytes, stream, true, hook_frame, call_runtime);
}
template <typename Call>
INLINE int hook_cudaFreeAsync(HookFrame hook_frame, Call&& call_runtime, void* block, void* stream) {
  return release_unseen_async(block, stream, false, hook_frame, call_runtime);
}
template <typename Call>
INLINE int hook_cudaFreeAsync_ptsz(HookFrame hook_frame, Call&& call_runtime, void* block, void* stream) {
  return release_unseen_async(block, stream, true, hook_frame, call_runtime);
}

}  // namespace

}  // namespace heapprof::agent

// The wrappers: heapprof_cudartN_NAME, for runtime N; those with a version are exported as NAME@VERSION.
#define HEAPPROF_RUNTIME_HOOK(runtime, name, params, ...)                                                            \
  HEAPPROF_EARLY_ENTRY("heapprof_cudart" #runtime "_" #name, #name, "heapprof_late" #runtime "_" #name);             \
  HOOK int heapprof_cudart##runtime##_##name params;                                                                 \
  extern "C" HIDDEN __attribute__((noinline)) int heapprof_late##runtime##_##name params {                           \
    using namespace heapprof::agent;                                                                                 \
    return hook_##name(                                                                                              \
        HEAPPROF_HOOK_FRAME(), [&] { return call_real<runtime, RuntimeFunction::name>(__VA_ARGS__); }, __VA_ARGS__); \
  }

#define HEAPPROF_EXPORT(runtime, name) \
  asm(".symver heapprof_cudart" #runtime "_" #name ", " #name "@" HEAPPROF_CUDART_##runtime);

#define X(name, params, ...)                          \
  HEAPPROF_RUNTIME_HOOK(0, name, params, __VA_ARGS__) \
  HEAPPROF_RUNTIME_HOOK(1, name, params, __VA_ARGS__) \
  HEAPPROF_RUNTIME_HOOK(2, name, params, __VA_ARGS__) \
  HEAPPROF_RUNTIME_HOOK(3, name, params, __VA_ARGS__) \
  HEAPPROF_EXPORT(0, name)                            \
  HEAPPROF_EXPORT(1, name)                            \
  HEAPPROF_EXPORT(2, name)
#include "agent/cuda/runtime.def"
#undef X

namespace heapprof::agent {

namespace {

void* const kWrappers[kFunctions][kRuntimes] = {
#define X(name, params, ...)                                                                           \
  {reinterpret_cast<void*>(heapprof_cudart0_##name), reinterpret_cast<void*>(heapprof_cudart1_##name), \
   reinterpret_cast<void*>(heapprof_cudart2_##name), reinterpret_cast<void*>(heapprof_cudart3_##name)},
#include "agent/cuda/runtime.def"
#undef X
};

size_t index_of(const char* name) {
  size_t index = 0;
  while (index < kFunctions && strcmp(kNames[index], name) != 0) ++index;
  return index;
}

bool is_loaded(void* address) {
  LoadedObject object;
  return find_object(number(address), &object);
}

}  // namespace

bool is_runtime_function(const char* name) { return index_of(name) < kFunctions; }

void* wrap_runtime(const char* name, void* found) {
  const size_t index = index_of(name);
  if (index >= kFunctions || is_own_code(found)) return found;
  for (size_t runtime = 0; runtime < kVersioned; ++runtime) {
    if (real_runtime(runtime, index) == found) return kWrappers[index][runtime];
  }
  void*& other = g_real_runtime[kVersioned][index];
  void* known = __atomic_load_n(&other, __ATOMIC_ACQUIRE);
  if (known != nullptr && known != found && is_loaded(known)) return found;  // a second one: not wrapped
  if (known != found && !__atomic_compare_exchange_n(&other, &known, found, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return known == found ? kWrappers[index][kVersioned] : found;
  return kWrappers[index][kVersioned];
}

// Functions that dlsym found are kept: the program may still call their wrappers.
void forget_cuda_runtime() {
  for (size_t runtime = 0; runtime < kVersioned; ++runtime) {
    for (void*& real : g_real_runtime[runtime]) forget_unloaded(&real);
  }
  forget_unloaded(&g_get_device);
}

}  // namespace heapprof::agent
