// agent/cuda/driver.h: the part of the CUDA driver that the agent calls: hooked functions, and queries about what they
// returned.
//
// Nothing of CUDA is needed to build, and nothing is looked up in a process that does not call the driver. The types
// are those of cuda.h 13.0, as facts of its ABI.
//
// Guarantees
//  - A real function is never one of the agent's wrappers: it is looked up only after the agent in search order
//    (tests/integration/cuda/cuda_routes.sh).
//  - If the driver cannot answer a query (no context: CUDA_ERROR_INVALID_CONTEXT, a driver without that function), the
//    result says so; the program's own results, contexts and errno are untouched.
// Context:  wrappers of driver functions, any thread; not in signal handlers.
#pragma once

#include "agent/cuda/array_size.h"
#include "agent/cuda/calls.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent {

struct CudaAllocationProperties {  // CUmemAllocationProp, its beginning
  uint32_t type;
  uint32_t handle_types;
  uint32_t location_type;
  int32_t location_id;
};
struct CudaCopy2d {  // CUDA_MEMCPY2D
  size_t from[7];    // x, y, memory type, host, device, array, pitch
  size_t to[7];
  size_t width_bytes;
  size_t height;
};
struct CudaCopy3d {  // CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER, which has a context instead of the reserved field
  size_t from[11];   // x, y, z, level of detail, memory type, host, device, array, reserved, pitch, height
  size_t to[11];
  size_t width_bytes;
  size_t height;
  size_t depth;
};
struct CudaCopyOperand {  // CUmemcpy3DOperand
  uint32_t type;
  uint64_t operand[4];
};
struct CudaBatchCopy3d {  // CUDA_MEMCPY3D_BATCH_OP
  CudaCopyOperand from;
  CudaCopyOperand to;
  size_t width;
  size_t height;
  size_t depth;
  uint32_t order;
  uint32_t flags;
};
struct CudaLaunchConfiguration {  // CUlaunchConfig
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};
struct CudaExternalMemory {  // CUDA_EXTERNAL_MEMORY_HANDLE_DESC, its beginning
  uint32_t type;
  void* handle[2];
  unsigned long long size_bytes;
};
struct CudaExternalBuffer {  // CUDA_EXTERNAL_MEMORY_BUFFER_DESC, its beginning
  unsigned long long offset;
  unsigned long long size_bytes;
};
struct CudaIpcHandle {
  char bytes[64];
};
struct CudaAllocationNode {  // CUDA_MEM_ALLOC_NODE_PARAMS
  CudaAllocationProperties properties;
  size_t rest_of_properties[9];
  const void* access;
  size_t access_count;
  size_t size_bytes;
  uint64_t address;
};
struct CudaNode {  // CUgraphNodeParams, its beginning
  uint32_t type;
  uint32_t reserved[3];
  CudaAllocationNode allocation;
};

enum class CudaFunction : uint32_t {
#define X(symbol, base, version, per_thread, params) symbol,
#include "agent/cuda/functions.def"
#undef X
  kCount
};

inline constexpr int kLastKnownVersion = 13000;  // the newest CUDA version whose ABI is known here
inline constexpr int kCudaSuccess = 0;
inline constexpr int kCudaOutOfMemory = 2;
inline constexpr int kCudaNotInitialized = 3;  // what a wrapper returns if no driver is loaded
inline constexpr uint32_t kCudaLocationDevice = 1;
inline constexpr uint32_t kCudaPointer = 1;          // CU_MEMCPY_OPERAND_TYPE_POINTER
inline constexpr uint32_t kCudaAllocationNode = 10;  // CU_GRAPH_NODE_TYPE_MEM_ALLOC

// What the wrapper calls: the first function of that name after the agent, possibly that of another library that wraps
// the driver; nullptr: no driver is loaded.
void* real_cuda(CudaFunction function);
// True if what a look-up found is the driver's function. Another library's function of that name, or a stub in the
// program, itself calls a wrapper: then the look-up's result stays as it is.
bool stands_for(CudaFunction function, const void* found);
bool is_same_object(const void* one, const void* other);
// Calls a query function of the driver or the runtime on the agent's own account. False: it failed, or function is
// nullptr.
template <typename... Arguments>
bool ask_function(void* function, Arguments... arguments) {
  if (function == nullptr) return false;
  const int before = errno;
  const int result = reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
  errno = before;
  return result == kCudaSuccess;
}
inline uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
// True if the address lies in the agent.
bool is_own_code(const void* address);
// Call when objects are being unloaded: forgets addresses whose objects may be gone.
void forget_cuda();

// The device's number in the wire format.
uint32_t device_of_ordinal(int ordinal);
// Device of the calling thread's context: wire::DeviceId.
uint32_t device_of_context();
// The device that a stream's memory comes from; wire::kUnknownCudaDevice: the driver cannot say (before CUDA 12.8).
uint32_t device_of_stream(void* stream);
// The calling thread's context; nullptr: none.
void* current_context();
// Device of a pointer from the driver; that of the context if the driver cannot say.
uint32_t device_of_pointer(uint64_t address);
// Device of memory from a pool, which may also be page-locked host memory or managed memory.
uint32_t device_of_pool_memory(uint64_t address);
// Free bytes on the device, within its limit. wire::kFreeUnknown: the device is not that of the calling thread's
// context, or the driver cannot say.
uint64_t free_bytes_of_context(uint32_t device);
// Describes the device to the collector, once in each session.
void announce_device(uint32_t device);
// Bytes of an imported allocation; 0: unknown.
uint64_t bytes_of_pointer(uint64_t address);
// The pool that an address was allocated from; nullptr: the driver cannot say.
void* pool_of_pointer(uint64_t address);
struct CudaPoolNumbers {
  uint64_t held_bytes;  // what the pool has taken from the device, in use or not
  uint64_t most_bytes;  // the most that it had since the program reset that number
  uint64_t used_bytes;
};
bool ask_pool_numbers(void* pool, CudaPoolNumbers* numbers);
struct CudaGraphNumbers {
  uint64_t used_bytes;
  uint64_t most_used_bytes;
  uint64_t held_bytes;
  uint64_t most_held_bytes;
};
// pre: a CUDA device
bool ask_graph_numbers(uint32_t device, CudaGraphNumbers* numbers);
// A kernel's name according to the driver; nullptr: it cannot say (before CUDA 12.3). The driver owns the text.
enum class KernelHandle : uint32_t { kUnknown = 0, kFunction = 1, kKernel = 2 };  // a CUfunction; a CUkernel
const char* ask_kernel_name(KernelHandle kind, const void* handle);
// How many kernels a module (kFunction) or a library has (CUDA 12.4).
bool ask_kernel_count(KernelHandle kind, const void* owner, unsigned* count);
// Events of the agent's own (gpu_time.h). A time is the bits of the driver's float: the agent uses no floating-point
// registers.
bool ask_new_event(void** event);
bool ask_is_event_complete(void* event);
bool ask_elapsed_time(uint32_t* milliseconds, void* begin, void* end);
// True if an event may be recorded in that stream: it is not being captured, or the driver has no captures.
bool may_record_event(void* stream, bool per_thread);
// How many kernels a graph launches. False: the driver cannot say, or the number depends on the graph's control flow.
bool ask_kernel_nodes(void* graph, uint64_t* count);
// While it exists, this thread may make calls that another thread's stream capture forbids.
class RelaxedCapture {
 public:
  RelaxedCapture();
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  uint32_t mode_;
};
bool is_capturing(void* stream, bool per_thread);
// True if no stream that waits for the default one is captured. False: one is, or the driver cannot say.
bool is_surely_not_capturing();
// False: the context cannot be made current.
bool push_context(void* context);
void pop_context();
// True if the device's primary context has ended; false if the driver cannot say.
bool has_primary_context_ended(int device);

}  // namespace heapprof::agent
