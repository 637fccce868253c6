// tests/fake_cuda/fake_nvml.cc: libnvidia-ml.so.1 for what the fake driver says (fake_nvml.h), as far as heapprof-nvml
// asks.
//   without FAKE_NVML          there is no driver
//   FAKE_NVML_IS=blind         it knows of no process, as in a container
//   FAKE_NVML_IS=old           it has only functions and structures of before 2020
//   FAKE_NVML_IS=hanging       it never answers
#include "tests/fake_cuda/fake_nvml.h"

#include <stdio.h>
#include <string.h>

namespace {

constexpr int kSuccess = 0;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr int kDriverNotLoaded = 9;
constexpr int kFunctionNotFound = 13;
constexpr uint64_t kMemory = 1ull << 30;
constexpr uint64_t kOthersBytes = 5 << 20;  // what a process that is not ours has in use

FakeUses* uses = nullptr;
bool is(const char* kind) {
  const char* const name = getenv("FAKE_NVML_IS");
  return name != nullptr && strcmp(name, kind) == 0;
}
size_t device_of(const void* handle) { return reinterpret_cast<size_t>(handle) - 1; }

template <typename Process>
int list(void* handle, unsigned* count, Process* processes) {
  unsigned wanted = 0;
  for (size_t i = 0; i < kFakeUses && !is("blind"); ++i) {
    const uint64_t bytes = uses->rows[i].bytes[device_of(handle)].load();
    if (uses->rows[i].pid.load() == 0 || bytes == 0) continue;
    if (wanted < *count) {
      processes[wanted].pid = static_cast<uint32_t>(uses->rows[i].pid.load());
      processes[wanted].used_bytes = bytes;
    }
    ++wanted;
  }
  const bool fits = wanted <= *count;
  *count = wanted;
  return fits ? kSuccess : kInsufficientSize;
}

}  // namespace

extern "C" {

struct FakeMemory {
  uint64_t total, free, used;
};
struct FakeProcess {
  uint32_t pid;
  uint64_t used_bytes;
  uint32_t gpu_instance, compute_instance;
};
struct FakeOldProcess {
  uint32_t pid;
  uint64_t used_bytes;
};

int nvmlInit_v2() {
  uses = map_fake_uses();
  if (uses != nullptr) uses->questions[0] += is("hanging") ? 1 : 0;
  while (is("hanging")) pause();
  return uses == nullptr ? kDriverNotLoaded : kSuccess;
}
const char* nvmlErrorString(int error) { return error == kDriverNotLoaded ? "Driver Not Loaded" : "Unknown Error"; }
// The fake driver's UUIDs end with f0 and f1.
int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  const size_t length = strlen(uuid);
  if (length != strlen("GPU-00000000-0000-0000-0000-000000000000") || strncmp(uuid, "GPU-", 4) != 0 ||
      uuid[length - 2] != 'f')
    return kNotFound;
  *handle = reinterpret_cast<void*>(static_cast<size_t>(uuid[length - 1] - '0' + 1));
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(void* handle, FakeMemory* memory) {
  ++uses->questions[device_of(handle)];
  memory->used = kOthersBytes;
  for (size_t i = 0; i < kFakeUses; ++i) memory->used += uses->rows[i].bytes[device_of(handle)].load();
  memory->total = kMemory;
  memory->free = memory->total - memory->used;
  return kSuccess;
}
int nvmlDeviceGetComputeRunningProcesses_v2(void* handle, unsigned* count, FakeProcess* processes) {
  return is("old") ? kFunctionNotFound : list(handle, count, processes);
}
int nvmlDeviceGetComputeRunningProcesses(void* handle, unsigned* count, FakeOldProcess* processes) {
  return list(handle, count, processes);
}
}
