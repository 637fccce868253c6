// tests/fake_cuda/fake_nvml.h: what the fake driver of each process has in use, in the file that FAKE_NVML names, for
// the fake NVML of another one.
#pragma once

#include "../targets/raw_call.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

struct FakeUse {
  std::atomic<int> pid;  // 0: a free row
  std::atomic<uint64_t> bytes[2];
};
constexpr size_t kFakeUses = 64;
struct FakeUses {
  std::atomic<uint64_t> questions[2];  // how often NVML was asked about each device
  FakeUse rows[kFakeUses];
};

// Maps the file; nullptr: FAKE_NVML names none. By an instruction: this is no mapping of the program's.
inline FakeUses* map_fake_uses() {
  const char* const path = getenv("FAKE_NVML");
  const int fd = path == nullptr ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(FakeUses)) != 0) return nullptr;
  const long address = raw_call(SYS_mmap, 0, sizeof(FakeUses), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return address < 0 ? nullptr : reinterpret_cast<FakeUses*>(address);
}
