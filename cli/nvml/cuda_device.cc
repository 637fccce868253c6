// cli/nvml/cuda_device.cc: the driver reports free memory only to a process with a context on the device, and a context
// itself takes some hundred MiB. A program that uses the device will have a context, too. So the program can get the
// memory that is free while this context exists.
//
// Types are those of cuda.h 13.0, as facts of its ABI.
#include "cli/nvml/cuda_device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

asm(".symver dlopen, dlopen@" HEAPPROF_FIRST_GLIBC);
asm(".symver dlsym, dlsym@" HEAPPROF_FIRST_GLIBC);
asm(".symver dlerror, dlerror@" HEAPPROF_FIRST_GLIBC);

namespace heapprof::nvml {
namespace {

void* g_driver = nullptr;
template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(g_driver, name));
}

constexpr const char* kNeeded[] = {"cuInit",          "cuDeviceGetCount", "cuDeviceGet", "cuDevicePrimaryCtxRetain",
                                   "cuCtxSetCurrent", "cuMemGetInfo_v2"};

// The driver's own text for an error.
const char* text_of(int error) {
  static char number[64];
  const char* text = nullptr;
  auto* const ask = find<int(int, const char**)>("cuGetErrorString");
  if (ask != nullptr && ask(error, &text) == 0 && text != nullptr) return text;
  snprintf(number, sizeof number, "CUDA error %d", error);
  return number;
}

void describe(CudaDevice* device) {
  auto* const ask_name = find<int(char*, int, int)>("cuDeviceGetName");
  if (ask_name == nullptr || ask_name(device->name, sizeof device->name - 1, device->handle) != 0) device->name[0] = 0;
  auto* ask_uuid = find<int(unsigned char*, int)>("cuDeviceGetUuid_v2");  // for a MIG part of a GPU, its own UUID
  if (ask_uuid == nullptr) ask_uuid = find<int(unsigned char*, int)>("cuDeviceGetUuid");
  unsigned char bytes[16];
  if (ask_uuid == nullptr || ask_uuid(bytes, device->handle) != 0) return;
  size_t length = static_cast<size_t>(snprintf(device->uuid, sizeof device->uuid, "GPU-"));
  for (size_t i = 0; i < sizeof bytes; ++i) {
    const char* const dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    length +=
        static_cast<size_t>(snprintf(device->uuid + length, sizeof device->uuid - length, "%s%02x", dash, bytes[i]));
  }
}

}  // namespace

const char* find_cuda_device(int index, CudaDevice* device) {
  device->index = index;
  g_driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (g_driver == nullptr) return dlerror();
  for (const char* name : kNeeded) {
    if (dlsym(g_driver, name) == nullptr) return "the CUDA driver lacks what is needed";
  }
  int count = 0;
  if (const int error = find<int(unsigned)>("cuInit")(0); error != 0) return text_of(error);
  if (const int error = find<int(int*)>("cuDeviceGetCount")(&count); error != 0) return text_of(error);
  if (index >= count) {
    static char text[64];
    snprintf(text, sizeof text, "the driver shows %d device%s", count, count == 1 ? "" : "s");
    return text;
  }
  if (const int error = find<int(int*, int)>("cuDeviceGet")(&device->handle, index); error != 0) return text_of(error);
  describe(device);
  return nullptr;
}

const char* enter_cuda_device(CudaDevice* device) {
  void* context = nullptr;
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  if (const int error = find<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, device->handle); error != 0)
    return text_of(error);
  if (const int error = find<int(void*)>("cuCtxSetCurrent")(context); error != 0) return text_of(error);
  if (const int error = find<int(size_t*, size_t*)>("cuMemGetInfo_v2")(&free_bytes, &total_bytes); error != 0)
    return text_of(error);
  device->free_bytes = free_bytes;
  device->total_bytes = total_bytes;
  return nullptr;
}

}  // namespace heapprof::nvml
