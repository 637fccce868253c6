// tests/targets/cuda/cuda_linked.cc: a program that is linked with the driver (-lcuda), as cuda_routes otherwise.
#include "../keep.h"
#include "tests/fake_cuda/fake_cuda.h"

KEEP_FRAME void use() {
  CUdeviceptr blocks[100];
  for (CUdeviceptr& block : blocks) {
    if (cuMemAlloc_v2(&block, 1235) != kSuccess) exit(80);
  }
  for (int i = 0; i < 50; ++i) {
    if (cuMemFree_v2(blocks[i]) != kSuccess) exit(81);
  }
}

int main() {
  CUcontext context = nullptr;
  if (cuCtxCreate_v2(&context, 0, 0) != kSuccess) return 90;
  use();
  return 0;
}
