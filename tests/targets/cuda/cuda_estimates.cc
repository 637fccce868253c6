// tests/targets/cuda/cuda_estimates.cc: contexts, modules and kernels of the fake driver, which take what
// FAKE_CUDA_OVERHEAD says.
//
// prints how often cuMemGetInfo was called, in all and while a stream was captured
#include "../keep.h"
#include "tests/fake_cuda/fake_cuda.h"

#include <errno.h>
#include <stdio.h>

namespace {

KEEP_FRAME CUcontext make_context(int device) {
  CUcontext context = nullptr;
  if (cuCtxCreate_v2(&context, 0, device) != kSuccess) exit(80);
  return context;
}
KEEP_FRAME void* load() {
  void* module = nullptr;
  if (cuModuleLoadData(&module, "code") != kSuccess) exit(81);
  return module;
}
KEEP_FRAME void look_up(void* module) {
  void* function = nullptr;
  if (cuModuleGetFunction(&function, module, "kernel") != kSuccess) exit(82);
}

}  // namespace

int main() {
  void* library = nullptr;
  const CUcontext first = make_context(0);  // before it nobody can be asked
  CUdeviceptr block = 0;
  if (cuMemAlloc_v2(&block, 10 << 20) != kSuccess) return 83;
  errno = 4242;
  void* module = load();
  if (errno != 4242) return 91;  // what was asked around it changes nothing
  for (int i = 0; i < 3; ++i) look_up(module);
  if (cuLibraryLoadData(&library, "code", nullptr, nullptr, 0, nullptr, nullptr, 0) != kSuccess) return 84;
  if (cuCtxSetLimit(0, 1 << 20) != kSuccess) return 85;
  make_context(0);  // a second one: 64 MiB
  CUcontext primary = nullptr;
  CUcontext current = nullptr;
  cuCtxSetCurrent(first);
  if (cuDevicePrimaryCtxRetain(&primary, 1) != kSuccess || cuDevicePrimaryCtxRetain(&primary, 1) != kSuccess) return 86;
  if (cuCtxGetCurrent(&current) != kSuccess || current != first) return 87;
  fake_cuda_fail_next("cuModuleLoadData", kOutOfMemory);
  if (cuModuleLoadData(&module, "code") != kOutOfMemory) return 88;
  const long before = fake_cuda_calls("cuMemGetInfo_v2");
  auto* stream = reinterpret_cast<CUstream>(0x10);
  void* graph = nullptr;
  if (cuStreamBeginCapture_v2(stream, 0) != kSuccess) return 89;
  load();
  if (cuStreamEndCapture(stream, &graph) != kSuccess) return 90;
  const long captured = fake_cuda_calls("cuMemGetInfo_v2") - before;
  printf("%ld %ld\n", fake_cuda_calls("cuMemGetInfo_v2"), captured);
  return 0;
}
