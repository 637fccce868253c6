// tests/fake_cuda/fake_cuda.cc: a CUDA driver without a GPU, with addresses and books of its own.
// It fails when it is told to.
//
// FAKE_CUDA_REPORT=FILE: at the end, how many names were looked up by cuGetProcAddress_v2, and how many of these calls
// came from a preloaded libheapprof.so.
//
// FAKE_CUDA_INNER=1: cuGetProcAddress gives out cuMemAlloc at an address that is not exported.
//
// FAKE_CUDA_OVERHEAD=1: contexts, modules, kernels and limits take memory of the device, as they do.
//
// Built as libcuda.so.1. Two devices; addresses are never touched, and those that are freed are given out again at
// once, newest first, as the real driver does.
#include "tests/fake_cuda/fake_cuda.h"

#include "shared/events.h"
#include "tests/fake_cuda/fake_kernels.h"
#include "tests/fake_cuda/fake_nvml.h"
#include "tests/fake_cuda/fake_pools.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

struct CUctx_st {
  int device;
};
struct CUarray_st {
  size_t bytes;
};

namespace {

constexpr int kDevices = 2;
constexpr int kVersion = 13000;
constexpr uint64_t kBase = 0x7d0000000000;
constexpr uint64_t kDeviceSpan = 1ull << 36;
constexpr size_t kGranule = 512;
constexpr size_t kMemory = 1ull << 30;  // what each device has

struct Block {
  size_t bytes;
  int device;
};
struct Handle {
  size_t bytes;
  int references;
};

struct Driver {
  std::recursive_mutex mutex;
  std::map<uint64_t, Block> blocks;
  std::map<size_t, std::vector<uint64_t>> free[kDevices];
  uint64_t next[kDevices] = {kBase, kBase + kDeviceSpan};
  std::map<uint64_t, Handle> handles;
  std::map<uint64_t, uint64_t> mapped;
  uint64_t next_handle = 1;
  CUctx_st primary[kDevices] = {{0}, {1}};
  int retained[kDevices] = {0, 0};
  std::map<uint64_t, int> opened;      // imported memory: how often it was opened
  uint64_t external = 0x6e0000000000;  // the next address or object of external memory; what is mapped of it
  std::map<std::pair<void*, uint64_t>, uint64_t> external_at;  // where a part of it was mapped
  std::map<uint64_t, int> mapped_external;                     // how often
  std::map<CUstream, int> streams;                             // the device of each
  size_t taken[kDevices] = {0, 0};                             // what contexts and modules take
  std::map<std::string, int> kernels;
  long lookups = 0;
  long lookups_by_agent = 0;
  std::map<std::string, long> calls;
  std::map<std::string, int> failures;
  std::map<std::string, unsigned> slow_us;
  std::map<std::string, uint64_t> arguments;
};
Driver& driver() {
  static Driver* const instance = new Driver;
  return *instance;
}
thread_local CUcontext t_context = nullptr;
thread_local std::vector<CUcontext> t_contexts_below;  // contexts that a push covered

constexpr size_t kContextBytes = 64 << 20;
constexpr size_t kModuleBytes = 3 << 20;
constexpr size_t kKernelBytes = 64 << 10;

size_t bytes_in_use(int device) {
  size_t bytes = driver().taken[device];
  for (const auto& [address, block] : driver().blocks) bytes += block.device == device ? block.bytes : 0;
  return bytes;
}

// Each process has a row of its own.
void publish() {
  static FakeUses* const uses = map_fake_uses();
  for (size_t i = 0; uses != nullptr && i < kFakeUses; ++i) {
    int owner = 0;
    FakeUse& row = uses->rows[i];
    if (!row.pid.compare_exchange_strong(owner, getpid()) && owner != getpid()) continue;
    for (int device = 0; device < kDevices; ++device) row.bytes[device] = bytes_in_use(device);
    return;
  }
}

void take(int device, size_t bytes) {
  static const bool has_overhead = getenv("FAKE_CUDA_OVERHEAD") != nullptr;
  if (has_overhead && device >= 0) driver().taken[device] += bytes;
  publish();
}
int current_device() { return t_context == nullptr ? -1 : t_context->device; }

// Counts the call. Returns what it is to fail with; 0: it is to work.
int enter(const char* function) {
  std::lock_guard guard(driver().mutex);
  ++driver().calls[function];
  if (const auto slow = driver().slow_us.find(function); slow != driver().slow_us.end()) {
    usleep(slow->second);
    driver().slow_us.erase(slow);
  }
  const auto at = driver().failures.find(function);
  if (at == driver().failures.end()) return 0;
  const int result = at->second;
  driver().failures.erase(at);
  return result;
}
#define ENTER(function)                                     \
  if (const int failure = enter(#function)) return failure; \
  std::lock_guard guard(driver().mutex)

int allocate(CUdeviceptr* address, size_t bytes, int device) {
  if (address == nullptr || bytes == 0) return kInvalidValue;
  if (bytes > kMemory - bytes_in_use(device)) return kOutOfMemory;
  const size_t rounded = (bytes + kGranule - 1) / kGranule * kGranule;
  std::vector<uint64_t>& reusable = driver().free[device][rounded];
  if (!reusable.empty()) {
    *address = reusable.back();
    reusable.pop_back();
  } else {
    *address = driver().next[device];
    driver().next[device] += rounded;
  }
  driver().blocks[*address] = {bytes, device};
  publish();
  return kSuccess;
}

int release(CUdeviceptr address) {
  if (address == 0 || fake_graph_free(address)) return kSuccess;
  if (const auto mapped = driver().mapped_external.find(address); mapped != driver().mapped_external.end()) {
    if (--mapped->second == 0) driver().mapped_external.erase(mapped);
    return kSuccess;
  }
  fake_pool_give(address);
  const auto at = driver().blocks.find(address);
  if (at == driver().blocks.end()) return kInvalidValue;
  driver().free[at->second.device][(at->second.bytes + kGranule - 1) / kGranule * kGranule].push_back(address);
  driver().blocks.erase(at);
  publish();
  return kSuccess;
}

int allocate_here(CUdeviceptr* address, size_t bytes) {
  return t_context == nullptr ? kInvalidContext : allocate(address, bytes, t_context->device);
}

// cuMemAlloc with the exported function's interface, at another address.
int inner_alloc(CUdeviceptr* address, size_t bytes) { return cuMemAlloc_v2(address, bytes); }
// cuMemAlloc with an interface that no CUDA has yet: its sizes are pages.
int newer_alloc(CUdeviceptr* address, size_t pages) { return allocate_here(address, pages * 4096); }

int find_function(const char* name, void** function, int version, uint64_t flags) {
  if (version >= 14000 && strcmp(name, "cuMemAlloc") == 0) {
    *function = reinterpret_cast<void*>(newer_alloc);
    return kSuccess;
  }
  if (version >= 3020 && strcmp(name, "cuMemAlloc") == 0 && getenv("FAKE_CUDA_INNER") != nullptr) {
    *function = reinterpret_cast<void*>(inner_alloc);
    return kSuccess;
  }
  const bool per_thread = (flags & 2) != 0;
  std::string symbol = name;
  const std::string base = symbol;
  for (const char* suffix : {"_v2", ""}) {
    symbol = base + suffix;
    if (base == "cuGetProcAddress" && version < 12000 && *suffix != 0) continue;
    for (const char* stream : {"_ptsz", ""}) {
      if (*stream != 0 && !per_thread) continue;
#define X(known, params)                         \
  if (symbol + stream == #known) {               \
    *function = reinterpret_cast<void*>(&known); \
    return kSuccess;                             \
  }
      FAKE_CUDA_FUNCTIONS(X)
#undef X
      int newest = 0;
#define X(known, as, since, with_stream, params, args)                                             \
  if (base == #as && version >= (since) && (since) > newest && per_thread == (with_stream != 0)) { \
    *function = reinterpret_cast<void*>(&known);                                                   \
    newest = since;                                                                                \
  }
#define AS_CALL(known, as, since, with_stream, kind, bytes, params, args) X(known, as, since, with_stream, params, args)
      HEAPPROF_CUDA_CALLS(AS_CALL)
      HEAPPROF_CUDA_LAUNCHES(X)
#undef AS_CALL
#undef X
      if (newest != 0) return kSuccess;
    }
  }
  *function = nullptr;
  return kNotFound;
}

struct Report {
  ~Report() {
    const char* path = getenv("FAKE_CUDA_REPORT");
    FILE* file = path == nullptr ? nullptr : fopen(path, "w");
    if (file == nullptr) return;
    fprintf(file, "%ld %ld\n", driver().lookups, driver().lookups_by_agent);
    fclose(file);
  }
} report;

}  // namespace

CUstream fake_cuda_capturing = nullptr;

std::recursive_mutex& fake_mutex() { return driver().mutex; }
int fake_enter(const char* function) { return enter(function); }

void fake_cuda_slow_next(const char* function, unsigned duration_us) {
  std::lock_guard guard(driver().mutex);
  driver().slow_us[function] = duration_us;
}
void fake_cuda_fail_next(const char* function, int result) {
  std::lock_guard guard(driver().mutex);
  driver().failures[function] = result;
}
long fake_cuda_calls(const char* function) {
  std::lock_guard guard(driver().mutex);
  return driver().calls[function];
}

uint64_t fake_cuda_arguments(const char* function) {
  std::lock_guard guard(driver().mutex);
  return driver().arguments[function];
}

namespace {

template <typename First, typename Second>
void launch(const char* function, First executable, Second) {
  if constexpr (std::is_same_v<First, void*>) {
    if (strncmp(function, "cuGraphLaunch", strlen("cuGraphLaunch")) == 0 && fake_is_graph(executable))
      fake_graph_launch(executable);
  }
}

// Of calls of a stream, whatever else they take.
template <typename... Rest>
void* stream_of(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream, Rest...) {
  return stream;
}
void* stream_of(const CudaLaunchConfiguration* as, void*, void**, void**) { return as->stream; }

// A kernel: on the device, or a node of a graph.
template <typename... Arguments>
int launch_kernel(const char* function, Arguments... arguments) {
  if (const int failure = enter(function)) return failure;
  std::lock_guard guard(driver().mutex);
  driver().arguments[function] = hash_of(arguments...);
  void* const stream = stream_of(arguments...);
  if (!fake_capture_node(stream, 0)) fake_launch(stream);
  return kSuccess;
}

// What waits and events are to the device.
void note_event(const char* function, void* event, void* stream) {
  if (strncmp(function, "cuEventRecord", strlen("cuEventRecord")) == 0 && !fake_capture_node(stream, 7))
    fake_record_event(event, stream);
}
template <typename... Arguments>
void note_event(const char*, Arguments...) {}
void note_event(const char* function, void* event, void* stream, unsigned) { note_event(function, event, stream); }
void note_wait(const char* function, void* what) {
  if (strncmp(function, "cuEventSynchronize", strlen("cuEventSynchronize")) == 0) return fake_complete_event(what);
  if (strncmp(function, "cuStreamSynchronize", strlen("cuStreamSynchronize")) == 0) return fake_complete(what);
  if (strncmp(function, "cuCtxSynchronize", strlen("cuCtxSynchronize")) == 0) fake_complete_all();
}
template <typename... Arguments>
void note_wait(const char* function, Arguments...) {
  note_wait(function, static_cast<void*>(nullptr));
}

// Waiting takes a while here, too.
template <typename... Arguments>
int call(const char* function, bool waits, Arguments... arguments) {
  if (const int failure = enter(function)) return failure;
  if (waits) usleep(200);
  std::lock_guard guard(driver().mutex);
  driver().arguments[function] = hash_of(arguments...);
  if (waits) fake_wait();
  note_wait(function, arguments...);
  note_event(function, arguments...);
  if constexpr (sizeof...(arguments) == 2) launch(function, arguments...);
  return kSuccess;
}
constexpr bool is_wait(heapprof::wire::DeviceCall kind) {
  return kind == heapprof::wire::DeviceCall::kSynchronizeContext ||
         kind == heapprof::wire::DeviceCall::kSynchronizeStream;
}

}  // namespace

#define STRIP(...) __VA_OPT__(, ) __VA_ARGS__
#define X(symbol, base, version, per_thread, kind, bytes, params, args) \
  int symbol params { return call(#symbol, is_wait(heapprof::wire::DeviceCall::kind) STRIP args); }
HEAPPROF_CUDA_CALLS(X)
#undef X
#define X(symbol, base, version, per_thread, params, args) \
  int symbol params { return launch_kernel(#symbol STRIP args); }
HEAPPROF_CUDA_LAUNCHES(X)
#undef X

int cuInit(unsigned) { return kSuccess; }
int cuDriverGetVersion(int* version) {
  *version = kVersion;
  return kSuccess;
}
int cuDeviceGetCount(int* count) {
  ENTER(cuDeviceGetCount);
  *count = kDevices;
  return kSuccess;
}
int cuDeviceGet(int* device, int ordinal) {
  ENTER(cuDeviceGet);
  if (ordinal < 0 || ordinal >= kDevices) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}
int cuCtxCreate_v2(CUcontext* context, unsigned, int device) {
  ENTER(cuCtxCreate_v2);
  if (device < 0 || device >= kDevices) return kInvalidValue;
  t_context = *context = new CUctx_st{device};
  take(device, kContextBytes);
  return kSuccess;
}
int cuCtxPushCurrent_v2(CUcontext context) {
  ENTER(cuCtxPushCurrent_v2);
  if (context == nullptr) return kInvalidContext;
  t_contexts_below.push_back(t_context);
  t_context = context;
  return kSuccess;
}
int cuCtxPopCurrent_v2(CUcontext* context) {
  ENTER(cuCtxPopCurrent_v2);
  if (t_contexts_below.empty()) return kInvalidContext;
  *context = t_context;
  t_context = t_contexts_below.back();
  t_contexts_below.pop_back();
  return kSuccess;
}
int cuCtxSetLimit(int, size_t value) {
  ENTER(cuCtxSetLimit);
  take(current_device(), value);
  return kSuccess;
}
int cuModuleLoadData(void** module, const void*) {
  ENTER(cuModuleLoadData);
  *module = new int;
  take(current_device(), kModuleBytes);
  return kSuccess;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  ENTER(cuModuleGetFunction);
  if (driver().kernels[name]++ == 0) take(current_device(), kKernelBytes);
  *function = fake_function(module, name);
  return kSuccess;
}
int cuLibraryLoadData(void** library, const void*, void*, void**, unsigned, void*, void**, unsigned) {
  ENTER(cuLibraryLoadData);
  *library = new int;
  take(current_device(), 2 * kModuleBytes);
  return kSuccess;
}
int cuStreamCreate(CUstream* stream, unsigned) {
  ENTER(cuStreamCreate);
  if (t_context == nullptr) return kInvalidContext;
  *stream = reinterpret_cast<CUstream>(0x100 * (driver().streams.size() + 1));
  driver().streams[*stream] = t_context->device;
  return kSuccess;
}
int cuStreamGetDevice(CUstream stream, int* device) {
  errno = kErrnoOfQuestions;
  std::lock_guard guard(driver().mutex);
  const auto at = driver().streams.find(stream);
  if (at == driver().streams.end()) return kInvalidValue;
  *device = at->second;
  return kSuccess;
}
int cuCtxSetCurrent(CUcontext context) {
  t_context = context;
  return kSuccess;
}
int cuCtxGetCurrent(CUcontext* context) {
  errno = kErrnoOfQuestions;
  *context = t_context;
  return kSuccess;
}
int cuCtxGetDevice(int* device) {
  errno = kErrnoOfQuestions;
  if (t_context == nullptr) return kInvalidContext;
  *device = t_context->device;
  return kSuccess;
}
int cuCtxDestroy_v2(CUcontext context) {
  ENTER(cuCtxDestroy_v2);
  if (context == t_context) t_context = nullptr;
  return kSuccess;
}
int cuDevicePrimaryCtxRetain(CUcontext* context, int device) {
  ENTER(cuDevicePrimaryCtxRetain);
  if (device < 0 || device >= kDevices) return kInvalidValue;
  *context = &driver().primary[device];
  if (driver().retained[device]++ == 0) take(device, kContextBytes);
  return kSuccess;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER(cuDevicePrimaryCtxRelease_v2);
  --driver().retained[device];
  return kSuccess;
}
int cuDevicePrimaryCtxReset_v2(int) {
  ENTER(cuDevicePrimaryCtxReset_v2);
  return kSuccess;
}
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = driver().retained[device] > 0 ? 1 : 0;
  return kSuccess;
}
int cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  ENTER(cuMemAlloc_v2);
  return allocate_here(address, bytes);
}
int cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height, unsigned) {
  ENTER(cuMemAllocPitch_v2);
  if (pitch == nullptr) return kInvalidValue;
  *pitch = (width + kGranule - 1) / kGranule * kGranule;
  return allocate_here(address, *pitch * height);
}
int cuMemFree_v2(CUdeviceptr address) {
  ENTER(cuMemFree_v2);
  return release(address);
}
int cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned) {
  ENTER(cuMemAllocManaged);
  return allocate_here(address, bytes);
}
int cuMemHostAlloc(void** block, size_t bytes, unsigned) {
  ENTER(cuMemHostAlloc);
  *block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return *block == MAP_FAILED ? kOutOfMemory : kSuccess;
}
int cuMemAllocHost_v2(void** block, size_t bytes) { return cuMemHostAlloc(block, bytes, 0); }
int cuMemFreeHost(void*) {
  ENTER(cuMemFreeHost);
  return kSuccess;
}
int cuArrayCreate_v2(CUarray* array, const CudaArrayDescriptor* descriptor) {
  ENTER(cuArrayCreate_v2);
  *array = new CUarray_st{descriptor->width * descriptor->height};
  return kSuccess;
}
int cuArray3DCreate_v2(CUarray* array, const CudaArray3dDescriptor* descriptor) {
  ENTER(cuArray3DCreate_v2);
  *array = new CUarray_st{descriptor->width};
  return kSuccess;
}
int cuArrayDestroy(CUarray) {
  ENTER(cuArrayDestroy);
  return kSuccess;
}
int cuMipmappedArrayCreate(CUarray* array, const CudaArray3dDescriptor* descriptor, unsigned) {
  ENTER(cuMipmappedArrayCreate);
  *array = new CUarray_st{descriptor->width};
  return kSuccess;
}
int cuMipmappedArrayDestroy(CUarray) {
  ENTER(cuMipmappedArrayDestroy);
  return kSuccess;
}
namespace {

// pool: nullptr: the pool of device 1.
int allocate_from(CUdeviceptr* address, size_t bytes, CUmemoryPool pool, CUstream stream) {
  if (pool == nullptr) pool = fake_default_pool(1);
  const int device = fake_device_of(pool);
  if (stream != nullptr && stream == fake_cuda_capturing) {
    *address = fake_capture(device, bytes);
    return kSuccess;
  }
  const int result = allocate(address, bytes, device);
  if (result == kSuccess) fake_pool_take(pool, *address, bytes);
  return result;
}
int allocate_from_current(CUdeviceptr* address, size_t bytes, CUstream stream) {
  if (t_context == nullptr) return kInvalidContext;
  const auto of = driver().streams.find(stream);
  const int device = of == driver().streams.end() ? t_context->device : of->second;
  return allocate_from(address, bytes, fake_current_pool(device), stream);
}
int release_later(CUdeviceptr address, CUstream stream) {
  return stream != nullptr && stream == fake_cuda_capturing ? kSuccess : release(address);
}

}  // namespace

int cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  ENTER(cuMemAllocAsync);
  return allocate_from_current(address, bytes, stream);
}
int cuMemAllocAsync_ptsz(CUdeviceptr* address, size_t bytes, CUstream stream) {
  ENTER(cuMemAllocAsync_ptsz);
  return allocate_from_current(address, bytes, stream);
}
int cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool, CUstream stream) {
  ENTER(cuMemAllocFromPoolAsync);
  return allocate_from(address, bytes, pool, stream);
}
int cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* address, size_t bytes, CUmemoryPool pool, CUstream stream) {
  ENTER(cuMemAllocFromPoolAsync_ptsz);
  return allocate_from(address, bytes, pool, stream);
}
int cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  ENTER(cuMemFreeAsync);
  return release_later(address, stream);
}
int cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
  ENTER(cuMemFreeAsync_ptsz);
  return release_later(address, stream);
}
int cuMemCreate(CUhandle* handle, size_t bytes, const CudaProperties* properties, unsigned long long) {
  ENTER(cuMemCreate);
  take(properties->location_id, bytes);  // never given back
  *handle = driver().next_handle++;
  driver().handles[*handle] = {bytes, 1};
  return kSuccess;
}
int cuMulticastCreate(CUhandle* handle, const void*) {
  ENTER(cuMulticastCreate);
  *handle = driver().next_handle++;
  driver().handles[*handle] = {0, 1};
  return kSuccess;
}
int cuMemRelease(CUhandle handle) {
  ENTER(cuMemRelease);
  return driver().handles.count(handle) != 0 ? kSuccess : kInvalidValue;
}
int cuMemRetainAllocationHandle(CUhandle* handle, void* address) {
  ENTER(cuMemRetainAllocationHandle);
  const auto at = driver().mapped.find(reinterpret_cast<uint64_t>(address));
  if (at == driver().mapped.end()) return kInvalidValue;
  *handle = at->second;
  return kSuccess;
}
int cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t, CUdeviceptr, unsigned long long) {
  ENTER(cuMemAddressReserve);
  *address = driver().next[0];
  driver().next[0] += bytes;
  return kSuccess;
}
int cuMemMap(CUdeviceptr address, size_t, size_t, CUhandle handle, unsigned long long) {
  ENTER(cuMemMap);
  driver().mapped[address] = handle;
  return kSuccess;
}
int cuMemUnmap(CUdeviceptr address, size_t) {
  ENTER(cuMemUnmap);
  driver().mapped.erase(address);
  return kSuccess;
}
int cuIpcOpenMemHandle_v2(CUdeviceptr* address, CudaIpc handle, unsigned) {
  ENTER(cuIpcOpenMemHandle_v2);
  size_t bytes = 0;
  memcpy(&bytes, handle.bytes, sizeof bytes);
  for (auto& [known, count] : driver().opened) {
    if (driver().blocks[known].bytes != bytes) continue;
    *address = known;
    ++count;
    return kSuccess;
  }
  const int result = allocate(address, bytes, 0);
  if (result == kSuccess) driver().opened[*address] = 1;
  return result;
}
int cuIpcCloseMemHandle(CUdeviceptr address) {
  ENTER(cuIpcCloseMemHandle);
  if (--driver().opened[address] > 0) return kSuccess;
  driver().opened.erase(address);
  return release(address);
}
int cuMemPoolImportPointer(CUdeviceptr* address, CUmemoryPool, void* exported) {
  ENTER(cuMemPoolImportPointer);
  return allocate(address, *static_cast<size_t*>(exported), 0);
}
int cuImportExternalMemory(void** memory, const CudaExternalMemory*) {
  ENTER(cuImportExternalMemory);
  *memory = reinterpret_cast<void*>(driver().external += 0x1000);
  return kSuccess;
}
int cuExternalMemoryGetMappedBuffer(CUdeviceptr* address, void* memory, const CudaExternalBuffer* what) {
  ENTER(cuExternalMemoryGetMappedBuffer);
  uint64_t& at = driver().external_at[{memory, what->offset}];
  if (driver().mapped_external.count(at) == 0) {
    at = driver().external += 0x1000;
    driver().external += what->size_bytes / 0x1000 * 0x1000;
  }
  ++driver().mapped_external[at];
  *address = at;
  return kSuccess;
}
int cuExternalMemoryGetMappedMipmappedArray(void** array, void*, const void*) {
  ENTER(cuExternalMemoryGetMappedMipmappedArray);
  *array = new CUarray_st{0};
  return kSuccess;
}
int cuDestroyExternalMemory(void*) {
  ENTER(cuDestroyExternalMemory);
  return kSuccess;
}
int cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  errno = kErrnoOfQuestions;
  std::lock_guard guard(driver().mutex);
  const auto at = driver().blocks.find(address);
  if (at == driver().blocks.end()) return kInvalidValue;
  if (base != nullptr) *base = address;
  if (bytes != nullptr) *bytes = at->second.bytes;
  return kSuccess;
}
int cuPointerGetAttribute(void* data, int attribute, CUdeviceptr address) {
  errno = kErrnoOfQuestions;
  std::lock_guard guard(driver().mutex);
  const auto at = driver().blocks.find(address);
  if (at == driver().blocks.end()) return kInvalidValue;
  switch (attribute) {
    case 2: *static_cast<unsigned*>(data) = fake_kind_of(address) == FakePoolKind::kHost ? 1 : 2; return kSuccess;
    case 8: *static_cast<unsigned char*>(data) = fake_kind_of(address) == FakePoolKind::kManaged; return kSuccess;
    case 9: *static_cast<int*>(data) = at->second.device; return kSuccess;
    case 17: *static_cast<CUmemoryPool*>(data) = fake_pool_of(address); return kSuccess;
    default: return kInvalidValue;
  }
}
int cuStreamIsCapturing(CUstream stream, int* status) {
  errno = kErrnoOfQuestions;
  *status = stream != nullptr && stream == fake_cuda_capturing ? 1 : 0;
  return kSuccess;
}
int cuStreamIsCapturing_ptsz(CUstream stream, int* status) { return cuStreamIsCapturing(stream, status); }
int cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  errno = kErrnoOfQuestions;
  ENTER(cuMemGetInfo_v2);
  if (t_context == nullptr) return kInvalidContext;
  *total_bytes = kMemory;
  *free_bytes = kMemory - bytes_in_use(t_context->device);
  return kSuccess;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  errno = kErrnoOfQuestions;
  *bytes = kMemory;
  return kSuccess;
}
int cuDeviceGetUuid(char* uuid, int device) {
  errno = kErrnoOfQuestions;
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<char>(i * 16 + device);
  return kSuccess;
}
int cuDeviceGetPCIBusId(char* text, int bytes, int device) {
  snprintf(text, static_cast<size_t>(bytes), "0000:0%d:00.0", device + 1);
  return kSuccess;
}
int cuDeviceGetName(char* text, int bytes, int) {
  snprintf(text, static_cast<size_t>(bytes), "Fake GPU");
  return kSuccess;
}
int cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  ENTER(cuGetProcAddress);
  return find_function(name, function, version, flags);
}
int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status) {
  ENTER(cuGetProcAddress_v2);
  Dl_info caller{};
  ++driver().lookups;
  if (dladdr(__builtin_return_address(0), &caller) != 0 && strstr(caller.dli_fname, "libheapprof") != nullptr)
    ++driver().lookups_by_agent;
  const int result = find_function(name, function, version, flags);
  if (status != nullptr) *status = result == kSuccess ? 0 : 1;
  return result;
}
