// tests/targets/cuda/cuda_use.cc: memory of the fake driver's first device, held until NVML was asked about it.
//
// usage: cuda_use BYTES [BYTES_OF_CHILD]       the child, forked before, holds so much of its own
//        cuda_use BYTES stay                  and does not end
#include "../keep.h"
#include "tests/fake_cuda/fake_cuda.h"
#include "tests/fake_cuda/fake_nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

KEEP_FRAME void hold(size_t bytes) {
  CUcontext context = nullptr;
  CUdeviceptr block = 0;
  if (cuCtxCreate_v2(&context, 0, 0) != kSuccess || cuMemAlloc_v2(&block, bytes) != kSuccess) exit(80);
  const FakeUses* const uses = map_fake_uses();
  const char* const kind = getenv("FAKE_NVML_IS");
  if (uses == nullptr) return;
  // The third question from now on ends what the second began, all of it after the allocation. One that hangs is the
  // last.
  const uint64_t wanted = kind != nullptr && strcmp(kind, "hanging") == 0 ? 1 : uses->questions[0] + 3;
  for (int i = 0; uses->questions[0] < wanted; ++i) {
    if (i == 30'000) exit(81);
    usleep(1000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const bool stays = argc > 2 && strcmp(argv[2], "stay") == 0;
  const bool has_child = argc > 2 && !stays;
  const pid_t child = has_child ? fork() : 0;
  if (has_child && child == 0) {
    hold(strtoull(argv[2], nullptr, 10));
    _exit(0);
  }
  hold(strtoull(argv[1], nullptr, 10));
  while (stays) pause();
  int status = 0;
  if (child != 0 && (waitpid(child, &status, 0) != child || status != 0)) return 82;
  return 0;
}
