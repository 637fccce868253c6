// cli/target/device_memory.h: measures how much memory is free on a CUDA device, by running heapprof-nvml.
//
// Guarantees
//  - If the driver hangs, only `patience_ms` are lost.
// Trust:    the helper's answer is checked.
// Cost:     a process that creates a context on the device. That takes up to some seconds, and for that time the
//           context's memory.
#pragma once

#include "cli/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace heapprof::cli {

struct DeviceMemory {
  uint64_t free_bytes = 0;  // free when a process has a context there
  uint64_t total_bytes = 0;
  std::optional<uint64_t> context_bytes;  // size of that context; unknown without NVML
  std::string product;                    // "NVIDIA H200"
};

// The driver of a machine with eight idle GPUs takes about ten seconds to initialise all of them.
inline constexpr int kDevicePatienceMs = 60'000;

// helper: the path of heapprof-nvml; empty: it is not installed. index: CUDA's index, after CUDA_VISIBLE_DEVICES is
// applied.
Result<DeviceMemory> measure_device(const std::string& helper, uint64_t index, int patience_ms = kDevicePatienceMs);

}  // namespace heapprof::cli
