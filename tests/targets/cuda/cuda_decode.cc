// tests/targets/cuda/cuda_decode.cc: five scopes "decode" on the fake driver, each with a kernel and with so many waits
// for a stream as the argument says; a sixth one if there is a second argument.
#include "heapprof/heapprof.h"
#include "tests/fake_cuda/fake_cuda.h"

#include <cstdlib>

namespace {

[[gnu::noinline]] void decode(int waits) {
  HEAPPROF_SCOPE("decode");
  cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  for (int i = 0; i < waits; ++i) cuStreamSynchronize(nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  CUcontext context = nullptr;
  cuCtxCreate_v2(&context, 0, 0);
  for (int i = 0; i < (argc > 2 ? 6 : 5); ++i) decode(std::atoi(argv[1]));
}
