// agent/cuda/hooks_tensors.cc: the memory that PyTorch's CUDA allocator gives to tensors, inside the memory that it got
// from the driver.
//
// The allocator calls a function of libc10 for each block that begins or ends, with or without a subscriber, while it
// holds its lock: so the records have the order of the blocks. The function's type has changed twice; all types are
// here, and the real one is always called. In 1.7 the address is that of the allocator's own description of the block:
// that identifies it as well, but lies in no segment. The form without an address (1.6 and older) cannot be booked.
//
// A CPU tensor is a malloc block, which has been counted already, so it is not recorded again.
#include "agent/cuda/tensors.h"
#include "agent/cuda/wrapper.h"
#include "agent/hooks/late_real.h"
#include "agent/process/arena.h"

namespace heapprof::agent {

namespace {

struct TorchDevice {  // c10::Device
  int8_t type;
  int8_t index;
};
constexpr int8_t kTorchCuda = 1;

enum Report : size_t { kUsage17, kUsage110, kUsage20, kUsage16, kRefusal110, kRefusal20, kRefusal2x };
LateReal g_reports[] = {{"_ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE"},
                        {"_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE"},
                        {"_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"},
                        {"_ZN3c1027reportMemoryUsageToProfilerENS_6DeviceEl"},
                        {"_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE"},
                        {"_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE"},
                        {"_ZN3c1027reportOutOfMemoryToProfilerEmmmNS_6DeviceE"}};

uint32_t device_of(TorchDevice device) {
  return device.index < 0 ? wire::kUnknownCudaDevice : device_of_ordinal(device.index);
}

INLINE void note_usage(const void* block, int64_t size_bytes, TorchDevice device, HookFrame hook_frame) {
  if (device.type != kTorchCuda || size_bytes == 0 || g_fork_page.state != AgentState::kOn) return;
  if (block == nullptr) {
    g_control->tensors_refused.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const bool begins = size_bytes > 0;
  record_device({begins ? DeviceOperation::kBeginInner : DeviceOperation::kEndInner, device_of(device), 0,
                 number(block), begins ? static_cast<uint64_t>(size_bytes) : 0},
                hook_frame);
}

INLINE void note_out_of_memory(uint64_t size_bytes, uint64_t allocated_bytes, uint64_t reserved_bytes,
                               TorchDevice device, HookFrame hook_frame) {
  if (device.type != kTorchCuda || g_fork_page.state != AgentState::kOn) return;
  const uint64_t idle_bytes = reserved_bytes > allocated_bytes ? reserved_bytes - allocated_bytes : 0;
  record_device({DeviceOperation::kRefuseInner, device_of(device), wire::pack_refusal(1, false),
                 wire::pack_free(idle_bytes), size_bytes},
                hook_frame);
}

}  // namespace

void forget_tensors() { forget_unloaded(g_reports); }

}  // namespace heapprof::agent

using namespace heapprof::agent;

// c10::reportMemoryUsageToProfiler(void*, int64_t, c10::Device), and with (int64_t, int64_t) or (size_t, size_t) before
// the device.
EARLY_HOOK(void, _ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE)
(void* block, int64_t size_bytes, TorchDevice device) {
  note_usage(block, size_bytes, device, HEAPPROF_HOOK_FRAME());
  forward(&g_reports[kUsage17], block, size_bytes, device);
}
EARLY_HOOK(void, _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE)
(void* block, int64_t size_bytes, int64_t allocated, int64_t reserved, TorchDevice device) {
  note_usage(block, size_bytes, device, HEAPPROF_HOOK_FRAME());
  forward(&g_reports[kUsage110], block, size_bytes, allocated, reserved, device);
}
EARLY_HOOK(void, _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE)
(void* block, int64_t size_bytes, size_t allocated, size_t reserved, TorchDevice device) {
  note_usage(block, size_bytes, device, HEAPPROF_HOOK_FRAME());
  forward(&g_reports[kUsage20], block, size_bytes, allocated, reserved, device);
}

// c10::reportMemoryUsageToProfiler(c10::Device, int64_t)
EARLY_HOOK(void, _ZN3c1027reportMemoryUsageToProfilerENS_6DeviceEl)(TorchDevice device, int64_t size_bytes) {
  note_usage(nullptr, size_bytes, device, HEAPPROF_HOOK_FRAME());
  forward(&g_reports[kUsage16], device, size_bytes);
}

// c10::reportOutOfMemoryToProfiler(requested size, allocated, reserved, c10::Device)
EARLY_HOOK(void, _ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE)
(int64_t size_bytes, int64_t allocated, int64_t reserved, TorchDevice device) {
  note_out_of_memory(static_cast<uint64_t>(size_bytes), static_cast<uint64_t>(allocated),
                     static_cast<uint64_t>(reserved), device, HEAPPROF_HOOK_FRAME());
  forward(&g_reports[kRefusal110], size_bytes, allocated, reserved, device);
}
EARLY_HOOK(void, _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE)
(int64_t size_bytes, size_t allocated, size_t reserved, TorchDevice device) {
  note_out_of_memory(static_cast<uint64_t>(size_bytes), allocated, reserved, device, HEAPPROF_HOOK_FRAME());
  forward(&g_reports[kRefusal20], size_bytes, allocated, reserved, device);
}
EARLY_HOOK(void, _ZN3c1027reportOutOfMemoryToProfilerEmmmNS_6DeviceE)
(size_t size_bytes, size_t allocated, size_t reserved, TorchDevice device) {
  note_out_of_memory(size_bytes, allocated, reserved, device, HEAPPROF_HOOK_FRAME());
  forward(&g_reports[kRefusal2x], size_bytes, allocated, reserved, device);
}
