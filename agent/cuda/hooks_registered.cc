// agent/cuda/hooks_registered.cc: memory of the program that the driver locks in place. The end of the context unlocks
// it.
#include "agent/cuda/wrapper.h"

using namespace heapprof::agent;
using heapprof::wire::DeviceCall;

CUDA_HOOK(cuMemHostRegister_v2)(void* block, size_t size_bytes, unsigned flags) {
  auto* real = REAL(cuMemHostRegister_v2);
  return allocate_block(heapprof::wire::kRegisteredDevice, &block, size_bytes, DeviceCall::kRegister,
                        HEAPPROF_HOOK_FRAME(), [&] { return call(real, block, size_bytes, flags); });
}

CUDA_HOOK(cuMemHostRegister)(void* block, size_t size_bytes, unsigned flags) {
  auto* real = REAL(cuMemHostRegister);
  return allocate_block(heapprof::wire::kRegisteredDevice, &block, size_bytes, DeviceCall::kRegister,
                        HEAPPROF_HOOK_FRAME(), [&] { return call(real, block, size_bytes, flags); });
}

CUDA_HOOK(cuMemHostUnregister)(void* block) {
  return release(REAL(cuMemHostUnregister), number(block), DeviceCall::kUnregister, HEAPPROF_HOOK_FRAME(), block);
}
