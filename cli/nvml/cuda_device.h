// cli/nvml/cuda_device.h: what the CUDA driver says of a device's memory.
//
// Guarantees
//  - What it says is missing is a constant string, or the driver's own, which stays.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace heapprof::nvml {

struct CudaDevice {
  int index = 0;   // as the program counts them: after CUDA_VISIBLE_DEVICES
  int handle = 0;  // CUdevice
  char name[256] = "";
  char uuid[64] = "";       // as NVML takes it; empty: the driver does not say
  uint64_t free_bytes = 0;  // beside the context of this process
  uint64_t total_bytes = 0;
};

// Loads the driver and finds the device. Why that cannot be; nullptr: it is found, and has no context yet.
const char* find_cuda_device(int index, CudaDevice* device);
// Makes the device's primary context, and asks what is free then. As above.
const char* enter_cuda_device(CudaDevice* device);

}  // namespace heapprof::nvml
