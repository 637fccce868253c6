// cli/nvml/cuda_device.h: what the CUDA driver reports about a device's memory.
//
// Guarantees
//  - A returned reason is a constant string, or the driver's own, which stays valid.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace heapprof::nvml {

struct CudaDevice {
  int index = 0;   // as the program counts them: after CUDA_VISIBLE_DEVICES
  int handle = 0;  // CUdevice
  char name[256] = "";
  char uuid[64] = "";       // in NVML's form; empty: the driver cannot say
  uint64_t free_bytes = 0;  // besides this process's context
  uint64_t total_bytes = 0;
};

// Loads the driver and finds the device. Returns why that failed; nullptr: the device is found, and has no context yet.
const char* find_cuda_device(int index, CudaDevice* device);
// Creates the device's primary context, then queries free memory. Returns as above.
const char* enter_cuda_device(CudaDevice* device);

}  // namespace heapprof::nvml
