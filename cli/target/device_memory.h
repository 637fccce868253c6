// cli/target/device_memory.h: what is free on a CUDA device, as heapprof-nvml says.
//
// Guarantees
//  - A driver that hangs costs `patience_ms`, and nothing else.
// Trust:    the helper's answer is checked.
// Cost:     a process that makes a context on the device: up to some seconds, and the context's memory for that long.
#pragma once

#include "cli/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace heapprof::cli {

struct DeviceMemory {
  uint64_t free_bytes = 0;  // beside a context of its own
  uint64_t total_bytes = 0;
  std::optional<uint64_t> context_bytes;  // size of that context; not known without NVML
  std::string product;                    // "NVIDIA H200"
};

// A cold machine with eight GPUs takes some ten seconds to wake all of them up.
inline constexpr int kDevicePatienceMs = 60'000;

// helper: the path of heapprof-nvml; empty: it is not installed. index: that of CUDA, after CUDA_VISIBLE_DEVICES.
Result<DeviceMemory> measure_device(const std::string& helper, uint64_t index, int patience_ms = kDevicePatienceMs);

}  // namespace heapprof::cli
