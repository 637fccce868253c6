// tests/fake_cuda/fake_cudart.cc: a CUDA runtime, as libcudart.so.12 or linked into a program, of three kinds:
//   FAKE_CUDART=driver   gets its memory from the driver, as the real one does
//   FAKE_CUDART=pieces   gets 1 MiB at a time from the driver, and hands out pieces of that
//   otherwise            has memory of its own: no driver is called, as in a replacement
#include "tests/fake_cuda/fake_cudart.h"

#include "tests/fake_cuda/fake_cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <mutex>

namespace {

constexpr uint64_t kOwnBase = 0x6d0000000000;
constexpr size_t kPitch = 512;
constexpr size_t kChunk = 1 << 20;

enum class Kind { kOwn, kDriver, kPieces };
Kind kind() {
  static const char* const name = getenv("FAKE_CUDART");
  if (name == nullptr) return Kind::kOwn;
  return strcmp(name, "driver") == 0 ? Kind::kDriver : strcmp(name, "pieces") == 0 ? Kind::kPieces : Kind::kOwn;
}

std::recursive_mutex mutex;
uint64_t next = kOwnBase;
uint64_t chunk_left = 0;
std::map<uint64_t, size_t> blocks;
int device = 0;

template <typename Function>
Function* find(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}
void use_context() {
  CUcontext context = nullptr;
  find<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&context, device);
  find<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(context);
}

int allocate(void** block, size_t bytes) {
  if (block == nullptr || bytes == 0) return kInvalidValue;
  const std::lock_guard guard(mutex);
  if (kind() == Kind::kPieces && chunk_left < bytes) {
    use_context();
    if (const int result = find<decltype(cuMemAlloc_v2)>("cuMemAlloc_v2")(&next, kChunk)) return result;
    chunk_left = kChunk;
  }
  const size_t rounded = (bytes + kPitch - 1) / kPitch * kPitch;
  *block = reinterpret_cast<void*>(next);
  blocks[next] = bytes;
  next += rounded;
  chunk_left -= kind() == Kind::kPieces ? rounded : 0;
  return kSuccess;
}

int release(void* block) {
  if (block == nullptr) return kSuccess;
  const std::lock_guard guard(mutex);
  return blocks.erase(reinterpret_cast<uint64_t>(block)) == 1 ? kSuccess : kInvalidValue;
}

}  // namespace

extern "C" {

int cudaGetDevice(int* which) {
  errno = kErrnoOfQuestions;
  *which = device;
  return kSuccess;
}
int cudaSetDevice(int which) {
  device = which;
  return kSuccess;
}

int cudaMalloc(void** block, size_t bytes) {
  if (kind() != Kind::kDriver) return allocate(block, bytes);
  use_context();
  return find<decltype(cuMemAlloc_v2)>("cuMemAlloc_v2")(reinterpret_cast<uint64_t*>(block), bytes);
}
int cudaFree(void* block) {
  if (kind() != Kind::kDriver) return release(block);
  return find<decltype(cuMemFree_v2)>("cuMemFree_v2")(reinterpret_cast<uint64_t>(block));
}
int cudaHostAlloc(void** block, size_t bytes, unsigned flags) {
  if (kind() != Kind::kDriver) return allocate(block, bytes);
  return find<decltype(cuMemHostAlloc)>("cuMemHostAlloc")(block, bytes, flags);
}
// It calls the other function by its exported name, as a library of several layers does.
int cudaMallocHost(void** block, size_t bytes) { return cudaHostAlloc(block, bytes, 0); }
int cudaFreeHost(void* block) {
  return kind() != Kind::kDriver ? release(block) : find<decltype(cuMemFreeHost)>("cuMemFreeHost")(block);
}
int cudaMallocManaged(void** block, size_t bytes, unsigned flags) {
  if (kind() != Kind::kDriver) return allocate(block, bytes);
  use_context();
  return find<decltype(cuMemAllocManaged)>("cuMemAllocManaged")(reinterpret_cast<uint64_t*>(block), bytes, flags);
}
int cudaMallocPitch(void** block, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return cudaMalloc(block, *pitch * height);
}
int cudaMalloc3D(FakePitched* pitched, FakeExtent extent) {
  pitched->width = extent.width;
  pitched->height = extent.height;
  return cudaMallocPitch(&pitched->block, &pitched->pitch, extent.width, extent.height * extent.depth);
}
int cudaMallocAsync(void** block, size_t bytes, void*) {
  if (kind() != Kind::kDriver) return allocate(block, bytes);
  use_context();
  return find<decltype(cuMemAllocAsync)>("cuMemAllocAsync")(reinterpret_cast<uint64_t*>(block), bytes, nullptr);
}
int cudaMallocAsync_ptsz(void** block, size_t bytes, void* stream) { return cudaMallocAsync(block, bytes, stream); }
int cudaMallocFromPoolAsync(void** block, size_t bytes, void*, void* stream) {
  return cudaMallocAsync(block, bytes, stream);
}
int cudaMallocFromPoolAsync_ptsz(void** block, size_t bytes, void*, void* stream) {
  return cudaMallocAsync(block, bytes, stream);
}
int cudaFreeAsync(void* block, void*) {
  if (kind() != Kind::kDriver) return release(block);
  return find<decltype(cuMemFreeAsync)>("cuMemFreeAsync")(reinterpret_cast<uint64_t>(block), nullptr);
}
int cudaFreeAsync_ptsz(void* block, void* stream) { return cudaFreeAsync(block, stream); }
}
