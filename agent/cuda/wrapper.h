// agent/cuda/wrapper.h: the parts of the CUDA driver function wrappers: call, then record what began; record what ends,
// then call.
//
// Context:  wrappers, any thread; not in signal handlers.
#pragma once

#include "agent/cuda/device_limit.h"
#include "agent/cuda/driver.h"
#include "agent/cuda/gpu_time.h"
#include "agent/cuda/routes.h"
#include "agent/cuda/runtime.h"
#include "agent/hooks/hook.h"
#include "agent/record/clock.h"
#include "shared/events.h"

// CUDA_HOOK(symbol)(parameters) { … }: an EARLY_HOOK with a second, hidden name. The table of routes has the hidden
// name, so that it gives this hook even if the program defines the public name.
#define CUDA_HOOK(symbol)                                      \
  HEAPPROF_EARLY_ENTRY(#symbol, #symbol, "heapprof_" #symbol); \
  extern "C" HIDDEN __attribute__((noinline)) int heapprof_##symbol

// Helpers that get a hook's frame are inlined, so that the frame still exists when it is read.
#define INLINE [[gnu::always_inline]] inline

namespace heapprof::agent {

using wire::DeviceOperation;

// ---- Calls ----

// The driver's function with the type of the wrapper; NAME(arguments).
#define REAL(symbol) reinterpret_cast<decltype(&symbol)>(real_cuda(CudaFunction::symbol))

template <typename Function, typename... Arguments>
INLINE int call(Function* real, Arguments... arguments) {
  return real == nullptr ? kCudaNotInitialized : real(arguments...);
}

// A call that a capture turns into a graph node: no memory begins or ends, but a driver call was seen.
template <typename Call>
INLINE int call_captured(Call&& call) {
  ++t_driver_calls;
  return call();
}

inline constexpr uint64_t kNoAddress = 8;  // an address is never 0 in a record (shared/events.h)

// Makes a driver call that takes the host's time; a failed call is not counted. size_bytes(): called once it has
// succeeded.
template <typename Size, typename Call>
requires requires(Size size_bytes) { size_bytes(); }
INLINE int time_call(wire::DeviceCall kind, Size&& size_bytes, HookFrame hook_frame, Call&& call) {
  if (g_fork_page.state != AgentState::kOn) return call();  // the clock may be forbidden by now
  const uint64_t start_ticks = read_ticks();
  const int result = call();
  if (result != kCudaSuccess || g_fork_page.state != AgentState::kOn) return result;
  const uint64_t end_ticks = read_ticks();
  const uint64_t ticks = end_ticks > start_ticks ? end_ticks - start_ticks : 0;
  record_device(
      {DeviceOperation::kCall, static_cast<uint32_t>(kind), wire::pack_duration(ticks), kNoAddress, size_bytes()},
      hook_frame);
  return result;
}
template <typename Call>
INLINE int time_call(wire::DeviceCall kind, uint64_t size_bytes, HookFrame hook_frame, Call&& call) {
  return time_call(
      kind, [=] { return size_bytes; }, hook_frame, call);
}

INLINE void note_refusal(uint32_t device, uint64_t size_bytes, bool is_by_limit, HookFrame hook_frame) {
  announce_device(device);
  record_device({DeviceOperation::kRefuse, device, wire::pack_refusal(kCudaOutOfMemory, is_by_limit),
                 wire::pack_free(free_bytes_of_context(device)), size_bytes},
                hook_frame);
}

// A device in `expected` that is queried only when it is needed.
inline constexpr uint32_t kDeviceToAsk = 0;

// Makes an allocating call. `expected` is what is known of the memory before the call. find() returns the memory
// obtained; its key is 0 if nothing was obtained. undo(key) gives the memory back if it turns out to exceed a limit.
// ask_device() says which device kDeviceToAsk is; if it does not know, the memory is reserved only after the call.
template <typename Call, typename Find, typename Undo, typename AskDevice = uint32_t (*)()>
INLINE int allocate(DeviceMemory expected, DeviceOperation operation, wire::DeviceCall kind, HookFrame hook_frame,
                    Call&& call, Find&& find, Undo&& undo, AskDevice&& ask_device = device_of_context) {
  ++t_driver_calls;
  const bool is_limited = has_device_limits();
  if (is_limited && expected.device == kDeviceToAsk) expected.device = ask_device();
  if (is_limited && !reserve_device_memory(expected.device, expected.size_bytes)) {
    note_refusal(expected.device, expected.size_bytes, true, hook_frame);
    return kCudaOutOfMemory;
  }
  const int result = time_call(kind, expected.size_bytes, hook_frame, call);
  DeviceMemory memory = expected;
  if (result == kCudaSuccess) {
    memory = find();
  } else if (result == kCudaOutOfMemory) {
    const uint32_t device = expected.device == kDeviceToAsk ? ask_device() : expected.device;
    note_refusal(device == wire::kUnknownCudaDevice ? device_of_context() : device, expected.size_bytes, false,
                 hook_frame);
  }
  if (result != kCudaSuccess || memory.key == 0) {
    if (is_limited) return_device_memory(expected.device, expected.size_bytes);
    return result;
  }
  if (is_limited) {
    if (!correct_reservation(expected.device, expected.size_bytes, memory)) {
      undo(memory.key);
      note_refusal(memory.device, memory.size_bytes, true, hook_frame);
      return kCudaOutOfMemory;
    }
    operation == DeviceOperation::kCreateHandle ? charge_handle(memory) : charge_address(memory);
  }
  announce_device(memory.device);
  if (operation == DeviceOperation::kCreateHandle) {
    record_device({operation, memory.device, memory.key, kNoAddress, memory.size_bytes}, hook_frame);
  } else {
    record_device({operation, memory.device, memory.context, memory.key, memory.size_bytes}, hook_frame);
  }
  return result;
}

// Allocates a block whose size and device are known before the call; it ends with the calling thread's context.
template <typename Address, typename Call>
INLINE int allocate_block(uint32_t device, Address* address, uint64_t size_bytes, wire::DeviceCall kind,
                          HookFrame hook_frame, Call&& call) {
  return allocate(
      {0, device, size_bytes, 0}, DeviceOperation::kAllocate, kind, hook_frame, call,
      [&] {
        return DeviceMemory{address == nullptr ? 0 : (uint64_t)*address, device, size_bytes, number(current_context())};
      },
      [](uint64_t) {});
}
INLINE void note_address(DeviceOperation operation, uint64_t address, HookFrame hook_frame) {
  if (address != 0) record_device({operation, 0, 0, address, 0}, hook_frame);
}
INLINE void note_handle(DeviceOperation operation, uint64_t handle, HookFrame hook_frame) {
  if (handle != 0) record_device({operation, 0, handle, kNoAddress, 0}, hook_frame);
}
// Makes a call that may end the context. has_ended(), called after success, says whether it did.
template <typename Call, typename HasEnded>
INLINE int end_context(const void* context, HookFrame hook_frame, Call&& call, HasEnded&& has_ended) {
  if (context == nullptr) return call();
  const auto note = [&](wire::ContextEnd end) {
    record_device({DeviceOperation::kEndContext, static_cast<uint32_t>(end), number(context), kNoAddress, 0},
                  hook_frame);
  };
  leave_gpu_context(context, hook_frame);
  if (has_device_limits()) begin_context_end(number(context));
  note(wire::ContextEnd::kMayEnd);
  const int result = call();
  const bool is_over = result == kCudaSuccess && has_ended();
  note(is_over ? wire::ContextEnd::kHasEnded : wire::ContextEnd::kLivesOn);
  if (has_device_limits()) finish_context_end(number(context), is_over);
  return result;
}

// Frees `address`. The end is recorded before the call: when the call returns, another thread may have the address.
template <typename Function, typename... Arguments>
INLINE int release(Function* real, uint64_t address, wire::DeviceCall kind, HookFrame hook_frame,
                   Arguments... arguments) {
  if (real == nullptr) return kCudaNotInitialized;
  ++t_driver_calls;
  DeviceMemory taken{};
  const bool is_taken = has_device_limits() && take_address(address, &taken);
  note_address(DeviceOperation::kRelease, address, hook_frame);
  const int result = time_call(kind, 0, hook_frame, [&] { return real(arguments...); });
  if (result != kCudaSuccess) {
    if (is_taken) charge_address(taken);
    note_address(DeviceOperation::kKeep, address, hook_frame);
  } else if (is_taken) {
    return_device_memory(taken.device, taken.size_bytes);
  }
  return result;
}

}  // namespace heapprof::agent
