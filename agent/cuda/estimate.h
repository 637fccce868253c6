// agent/cuda/estimate.h: `heapprof run --estimate-gpu` estimates how much memory contexts and modules take on a device,
// as no call reports it: the free memory before they were made, minus that after.
//
// Guarantees
//  - The driver is not queried without the flag, during a stream capture, or at a launch. A failed query changes
//    nothing: the call is made all the same, and the program gets its result.
//  - The thread's current context is unchanged.
// Not provided: what is loaded at a kernel's first launch; a context's share in what the driver keeps for all contexts.
// Context:  wrappers of driver functions, any thread; not in signal handlers.
// Cost:     with the flag: two cuMemGetInfo a call, tens of microseconds; without it one load.
#pragma once

#include "agent/cuda/wrapper.h"

namespace heapprof::agent {

bool estimates_gpu();

// Counts captures into graphs, of all threads. change: 1: one begins; -1: one ends.
void note_capture(int change);

// Free and total memory of the calling thread's device. False: the driver may not be queried now, or cannot say.
struct FreeMemory {
  uint32_t device;
  uint64_t free_bytes;
  uint64_t total_bytes;
};
bool ask_free_memory(FreeMemory* memory);
// As ask_free_memory, in a context that need not be current.
bool ask_free_memory_in(void* context, FreeMemory* memory);

// True on the first call for this owner and name; false also when too many were seen. name: may be nullptr.
bool is_first_lookup(const void* owner, const char* name);

INLINE void begin_estimate(uint32_t device, uint64_t free_bytes, HookFrame hook_frame) {
  record_device({DeviceOperation::kBeginEstimate, device, wire::pack_free(free_bytes), kNoAddress, 0}, hook_frame);
}
INLINE void end_estimate(wire::EstimateKind kind, const FreeMemory& after, HookFrame hook_frame) {
  announce_device(after.device);
  record_device({DeviceOperation::kEndEstimate, after.device, static_cast<uint64_t>(kind),
                 wire::pack_free(after.free_bytes), after.total_bytes},
                hook_frame);
}

// Estimates the memory taken by a call that changes the calling thread's context.
template <typename Call>
INLINE int estimate_change(wire::EstimateKind kind, HookFrame hook_frame, Call&& call) {
  FreeMemory memory;
  if (!estimates_gpu() || !ask_free_memory(&memory)) return call();
  begin_estimate(memory.device, memory.free_bytes, hook_frame);
  const uint32_t device = memory.device;
  const int result = call();
  if (result == kCudaSuccess && ask_free_memory(&memory) && memory.device == device)
    end_estimate(kind, memory, hook_frame);
  return result;
}

// Estimates the memory of a context that the call makes and stores in *context. Before a device's first context, free
// memory cannot be queried: then all memory in use afterwards is an upper bound.
template <typename Call>
INLINE int estimate_context(void** context, int ordinal, HookFrame hook_frame, Call&& call) {
  if (!estimates_gpu() || ordinal < 0 ||
      static_cast<uint32_t>(ordinal) > wire::kLastCudaDevice - wire::kFirstCudaDevice) {
    return call();
  }
  const uint32_t device = wire::kFirstCudaDevice + static_cast<uint32_t>(ordinal);
  FreeMemory memory;
  const bool is_known = ask_free_memory(&memory) && memory.device == device;
  begin_estimate(device, is_known ? memory.free_bytes : wire::kFreeUnknown, hook_frame);
  const int result = call();
  if (result == kCudaSuccess && context != nullptr && ask_free_memory_in(*context, &memory) && memory.device == device)
    end_estimate(wire::EstimateKind::kContext, memory, hook_frame);
  return result;
}

}  // namespace heapprof::agent
