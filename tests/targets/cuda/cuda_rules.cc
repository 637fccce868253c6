// tests/targets/cuda/cuda_rules.cc: every rule by which the CUDA driver's memory begins and ends, with books of its
// own.
//
// usage: cuda_rules        prints for each device: name, total bytes, allocations, peak, bytes and blocks that are left
#include "../keep.h"
#include "cuda_client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Book {
  long total = 0, count = 0, peak = 0, live = 0, blocks = 0;
  void add(long bytes) {
    total += bytes;
    ++count;
    live += bytes;
    ++blocks;
    if (live > peak) peak = live;
  }
  void sub(long bytes) {
    live -= bytes;
    --blocks;
  }
};
std::map<std::string, Book> books;

KEEP_FRAME CUdeviceptr allocate(size_t bytes, const char* device) {
  CUdeviceptr address = 0;
  errno = kOwnErrno;
  EXPECT(cuda.cuMemAlloc_v2(&address, bytes) == kSuccess);
  EXPECT(errno == kOwnErrno);
  books[device].add(static_cast<long>(bytes));
  return address;
}
KEEP_FRAME void release(CUdeviceptr address, size_t bytes, const char* device) {
  errno = kOwnErrno;
  EXPECT(cuda.cuMemFree_v2(address) == kSuccess);
  EXPECT(errno == kOwnErrno);
  books[device].sub(static_cast<long>(bytes));
}

KEEP_FRAME void plain_memory() {
  const CUdeviceptr first = allocate(1 << 20, "cuda:0");
  const CUdeviceptr second = allocate(3 << 20, "cuda:0");
  release(first, 1 << 20, "cuda:0");
  const CUdeviceptr again = allocate(1 << 20, "cuda:0");
  EXPECT(again == first);  // the driver gives addresses out again
  release(second, 3 << 20, "cuda:0");
  release(again, 1 << 20, "cuda:0");
  allocate(1235, "cuda:0");  // left
  EXPECT(cuda.cuMemFree_v2(0) == kSuccess);
}

KEEP_FRAME void failures_change_nothing() {
  CUdeviceptr address = 77;
  cuda.fail_next("cuMemAlloc_v2", kOutOfMemory);
  errno = kOwnErrno;
  EXPECT(cuda.cuMemAlloc_v2(&address, 1 << 30) == kOutOfMemory);
  EXPECT(errno == kOwnErrno);  // though it was asked what is free
  EXPECT(address == 77);
  EXPECT(cuda.cuMemAlloc_v2(nullptr, 100) == kInvalidValue);
  const CUdeviceptr kept = allocate(5000, "cuda:0");
  cuda.fail_next("cuMemFree_v2", kInvalidContext);
  EXPECT(cuda.cuMemFree_v2(kept) == kInvalidContext);
  release(kept, 5000, "cuda:0");
  EXPECT(cuda.cuMemFree_v2(0x1234500) == kInvalidValue);  // never allocated
}

KEEP_FRAME void pitched_managed_pinned() {
  CUdeviceptr address = 0;
  size_t pitch = 0;
  EXPECT(cuda.cuMemAllocPitch_v2(&address, &pitch, 1000, 10, 4) == kSuccess);
  books["cuda:0"].add(static_cast<long>(pitch) * 10);
  release(address, pitch * 10, "cuda:0");
  EXPECT(cuda.cuMemAllocManaged(&address, 70000, 1) == kSuccess);
  books["managed"].add(70000);
  release(address, 70000, "managed");
  void* block = nullptr;
  EXPECT(cuda.cuMemHostAlloc(&block, 8192, 0) == kSuccess);
  books["pinned"].add(8192);
  void* other = nullptr;
  EXPECT(cuda.cuMemAllocHost_v2(&other, 4096) == kSuccess);
  books["pinned"].add(4096);
  EXPECT(cuda.cuMemFreeHost(block) == kSuccess);
  books["pinned"].sub(8192);
}

// Texels that are packed, planar or compressed, each with what it takes, and arrays that get their memory by mapping.
KEEP_FRAME void formats() {
  const struct {
    CudaArray3dDescriptor descriptor;
    unsigned levels;
    long bytes;
  } kinds[] = {
      {{64, 32, 0, 0xc2, 4, 0}, 1, 64 * 32 * 4},                    // UNORM_INT8X4
      {{64, 32, 0, 0xca, 2, 0}, 1, 64 * 32 * 2 * 2},                // SNORM_INT16X2
      {{64, 32, 0, 0xb0, 3, 0}, 1, 64 * 32 + 2 * 32 * 16},          // NV12: luma, and two chromas of a quarter
      {{64, 32, 0, 0x9f, 3, 0}, 1, 2 * (64 * 32 + 2 * 32 * 16)},    // P010
      {{64, 32, 0, 0xa2, 3, 0}, 1, 64 * 32 + 2 * 32 * 32},          // NV16: two chromas of half
      {{64, 32, 0, 0x50, 4, 0}, 1, 64 * 32 * 4},                    // 10:10:10:2
      {{64, 32, 0, 0xb1, 4, 0}, 1, 64 * 32 * 8},                    // Y416
      {{64, 30, 0, 0x91, 4, 0}, 1, 16 * 8 * 8},                     // BC1: 8 bytes for 4 x 4
      {{64, 30, 0, 0x9d, 4, 0}, 3, (16 * 8 + 8 * 4 + 4 * 2) * 16},  // BC7, a mipmap of 64 x 30, 32 x 15, 16 x 7
      {{16, 16, 6, 0x01, 1, 4}, 2, (16 * 16 + 8 * 8) * 6},          // a cube has six faces at each level
      {{16, 16, 5, 0x01, 1, 1}, 2, (16 * 16 + 8 * 8) * 5},          // layers
      {{4, 2, 0, 0x01, 1, 0}, 99, 4 * 2 + 2 + 1},                   // no more levels than there are
      {{1024, 1024, 0, 0x20, 4, 0x40}, 1, 0},                       // sparse
      {{1024, 1024, 0, 0x20, 4, 0x80}, 3, 0},                       // mapped later
  };
  for (const auto& kind : kinds) {
    CUarray array = nullptr;
    if (kind.levels == 1) {
      EXPECT(cuda.cuArray3DCreate_v2(&array, &kind.descriptor) == kSuccess);
    } else {
      EXPECT(cuda.cuMipmappedArrayCreate(&array, &kind.descriptor, kind.levels) == kSuccess);
    }
    books["cuda:0"].add(kind.bytes);
    EXPECT((kind.levels == 1 ? cuda.cuArrayDestroy(array) : cuda.cuMipmappedArrayDestroy(array)) == kSuccess);
    books["cuda:0"].sub(kind.bytes);
  }
}

KEEP_FRAME void arrays() {
  CUarray array = nullptr;
  const CudaArrayDescriptor flat{100, 50, 0x20, 4};  // floats
  EXPECT(cuda.cuArrayCreate_v2(&array, &flat) == kSuccess);
  books["cuda:0"].add(100 * 50 * 4 * 4);
  EXPECT(cuda.cuArrayDestroy(array) == kSuccess);
  books["cuda:0"].sub(100 * 50 * 4 * 4);
  const CudaArray3dDescriptor deep{16, 8, 4, 0x02, 2, 0};  // 16 bits
  EXPECT(cuda.cuArray3DCreate_v2(&array, &deep) == kSuccess);
  books["cuda:0"].add(16 * 8 * 4 * 2 * 2);
  CUarray mipmap = nullptr;
  EXPECT(cuda.cuMipmappedArrayCreate(&mipmap, &deep, 3) == kSuccess);
  const long levels = (16 * 8 * 4 + 8 * 4 * 2 + 4 * 2 * 1) * 2 * 2;
  books["cuda:0"].add(levels);
  EXPECT(cuda.cuMipmappedArrayDestroy(mipmap) == kSuccess);
  books["cuda:0"].sub(levels);
  EXPECT(cuda.cuArrayDestroy(array) == kSuccess);
  books["cuda:0"].sub(16 * 8 * 4 * 2 * 2);
}

KEEP_FRAME void pools_and_streams() {
  auto* stream = reinterpret_cast<CUstream>(0x10);
  CUdeviceptr address = 0;
  EXPECT(cuda.cuMemAllocAsync(&address, 40000, stream) == kSuccess);
  books["cuda:0"].add(40000);
  EXPECT(cuda.cuMemFreeAsync(address, stream) == kSuccess);
  books["cuda:0"].sub(40000);
  EXPECT(cuda.cuMemAllocAsync_ptsz(&address, 50000, stream) == kSuccess);
  books["cuda:0"].add(50000);
  release(address, 50000, "cuda:0");  // cuMemFree may end it, too
  EXPECT(cuda.cuMemAllocFromPoolAsync(&address, 60000, nullptr, stream) == kSuccess);
  books["cuda:1"].add(60000);  // the pool's device, not the context's
  EXPECT(cuda.cuMemFreeAsync_ptsz(address, stream) == kSuccess);
  books["cuda:1"].sub(60000);
  // Of pools whose memory is no device's.
  const struct {
    CudaProperties properties;
    const char* device;
  } elsewhere[] = {{{1, 0, 2, 0, nullptr, 0}, "pinned"}, {{2, 0, 0, 0, nullptr, 0}, "managed"}};
  for (const auto& kind : elsewhere) {
    CUmemoryPool pool = nullptr;
    EXPECT(cuda.cuMemPoolCreate(&pool, &kind.properties) == kSuccess);
    CUdeviceptr blocks[2] = {};
    for (CUdeviceptr& block : blocks) {
      EXPECT(cuda.cuMemAllocFromPoolAsync(&block, 1 << 20, pool, stream) == kSuccess);
      books[kind.device].add(1 << 20);
    }
    for (const CUdeviceptr block : blocks) {
      EXPECT(cuda.cuMemFreeAsync(block, stream) == kSuccess);
      books[kind.device].sub(1 << 20);
    }
    EXPECT(cuda.cuMemPoolDestroy(pool) == kSuccess);
  }
  // Captured by a graph: nodes, no memory.
  *cuda.capturing = stream;
  EXPECT(cuda.cuMemAllocAsync(&address, 90000, stream) == kSuccess);
  EXPECT(cuda.cuMemFreeAsync(address, stream) == kSuccess);
  *cuda.capturing = nullptr;
}

// Physical memory ends with its last reference and its last mapping, whichever comes last.
KEEP_FRAME void virtual_memory() {
  const CudaProperties on_one{1, 0, 1, 1, nullptr, 0};
  CUhandle handle = 0;
  CUdeviceptr address = 0;
  EXPECT(cuda.cuMemAddressReserve(&address, 8 << 20, 0, 0, 0) == kSuccess);
  EXPECT(cuda.cuMemCreate(&handle, 2 << 20, &on_one, 0) == kSuccess);
  books["cuda:1"].add(2 << 20);
  EXPECT(cuda.cuMemMap(address, 2 << 20, 0, handle, 0) == kSuccess);
  EXPECT(cuda.cuMemRelease(handle) == kSuccess);  // as llama.cpp does: the mapping holds it
  CUhandle second = 0;
  EXPECT(cuda.cuMemCreate(&second, 2 << 20, &on_one, 0) == kSuccess);
  books["cuda:1"].add(2 << 20);
  EXPECT(cuda.cuMemMap(address + (2 << 20), 2 << 20, 0, second, 0) == kSuccess);
  CUhandle retained = 0;
  EXPECT(cuda.cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(address + (2 << 20))) == kSuccess);
  EXPECT(retained == second);
  cuda.fail_next("cuMemUnmap", kInvalidContext);
  EXPECT(cuda.cuMemUnmap(address, 4 << 20) == kInvalidContext);  // both are as before, and in a higher peak
  CUhandle higher = 0;
  EXPECT(cuda.cuMemCreate(&higher, 8 << 20, &on_one, 0) == kSuccess);
  books["cuda:1"].add(8 << 20);
  EXPECT(cuda.cuMemRelease(higher) == kSuccess);
  books["cuda:1"].sub(8 << 20);
  EXPECT(cuda.cuMemUnmap(address, 4 << 20) == kSuccess);
  books["cuda:1"].sub(2 << 20);  // the first
  cuda.fail_next("cuMemRelease", kInvalidValue);
  EXPECT(cuda.cuMemRelease(second) == kInvalidValue);
  EXPECT(cuda.cuMemRelease(second) == kSuccess);
  EXPECT(cuda.cuMemRelease(retained) == kSuccess);
  books["cuda:1"].sub(2 << 20);
  CUhandle last = 0;
  EXPECT(cuda.cuMemCreate(&last, 4 << 20, &on_one, 0) == kSuccess);
  books["cuda:1"].add(4 << 20);
  cuda.fail_next("cuMemRelease", kInvalidValue);
  EXPECT(cuda.cuMemRelease(last) == kInvalidValue);  // of its last reference: it lives, and is in a higher peak
  EXPECT(cuda.cuMemCreate(&higher, 32 << 20, &on_one, 0) == kSuccess);
  books["cuda:1"].add(32 << 20);
  EXPECT(cuda.cuMemRelease(higher) == kSuccess);
  books["cuda:1"].sub(32 << 20);
  EXPECT(cuda.cuMemRelease(last) == kSuccess);
  books["cuda:1"].sub(4 << 20);
  EXPECT(cuda.cuMemRelease(0x77777777) == kInvalidValue);  // of no handle
  CUhandle kept = 0;
  EXPECT(cuda.cuMemCreate(&kept, 1 << 20, &on_one, 0) == kSuccess);
  books["cuda:1"].add(1 << 20);  // left
}

// Seen through a handle of its own: no new bytes, and nothing that does not match.
KEEP_FRAME void multicast() {
  CUhandle handle = 0;
  CUdeviceptr address = 0;
  EXPECT(cuda.cuMulticastCreate(&handle, nullptr) == kSuccess);
  books["imported"].add(0);
  EXPECT(cuda.cuMemAddressReserve(&address, 2 << 20, 0, 0, 0) == kSuccess);
  EXPECT(cuda.cuMemMap(address, 2 << 20, 0, handle, 0) == kSuccess);
  EXPECT(cuda.cuMemRelease(handle) == kSuccess);
  EXPECT(cuda.cuMemUnmap(address, 2 << 20) == kSuccess);
  books["imported"].sub(0);
}

// Of another API: it lives as long as the object, or what is mapped of it.
KEEP_FRAME void external() {
  void* memory = nullptr;
  CUdeviceptr buffer = 0;
  void* array = nullptr;
  const CudaExternalMemory what{1, {}, 300000};
  const CudaExternalBuffer part{0, 100000};
  EXPECT(cuda.cuImportExternalMemory(&memory, &what) == kSuccess);
  books["imported"].add(300000);
  EXPECT(cuda.cuExternalMemoryGetMappedBuffer(&buffer, memory, &part) == kSuccess);
  EXPECT(cuda.cuExternalMemoryGetMappedMipmappedArray(&array, memory, &part) == kSuccess);
  // Mapped again, perhaps to the same address.
  CUdeviceptr same = 0;
  EXPECT(cuda.cuExternalMemoryGetMappedBuffer(&same, memory, &part) == kSuccess);
  EXPECT(same == buffer);
  EXPECT(cuda.cuMemFree_v2(same) == kSuccess);
  cuda.fail_next("cuDestroyExternalMemory", kInvalidValue);
  EXPECT(cuda.cuDestroyExternalMemory(memory) == kInvalidValue);
  EXPECT(cuda.cuDestroyExternalMemory(memory) == kSuccess);
  EXPECT(cuda.cuMipmappedArrayDestroy(static_cast<CUarray>(array)) == kSuccess);
  cuda.fail_next("cuMemFree_v2", kInvalidValue);
  EXPECT(cuda.cuMemFree_v2(buffer) == kInvalidValue);
  // The buffer holds it: a second object beside it makes a peak that tells.
  EXPECT(cuda.cuImportExternalMemory(&memory, &what) == kSuccess);
  books["imported"].add(300000);
  EXPECT(cuda.cuMemFree_v2(buffer) == kSuccess);
  books["imported"].sub(300000);
  EXPECT(cuda.cuDestroyExternalMemory(memory) == kSuccess);
  books["imported"].sub(300000);
}

KEEP_FRAME void imported() {
  CudaIpc handle{};
  const size_t bytes = 123456;
  memcpy(handle.bytes, &bytes, sizeof bytes);
  CUdeviceptr address = 0;
  EXPECT(cuda.cuIpcOpenMemHandle_v2(&address, handle, 1) == kSuccess);
  books["imported"].add(123456);
  CUdeviceptr again = 0;
  EXPECT(cuda.cuIpcOpenMemHandle_v2(&again, handle, 1) == kSuccess);
  EXPECT(again == address);  // the same memory, once more
  cuda.fail_next("cuIpcCloseMemHandle", kInvalidContext);
  EXPECT(cuda.cuIpcCloseMemHandle(address) == kInvalidContext);  // still opened twice
  EXPECT(cuda.cuIpcCloseMemHandle(address) == kSuccess);
  EXPECT(cuda.cuIpcCloseMemHandle(address) == kSuccess);
  books["imported"].sub(123456);
}

KEEP_FRAME void imported_from_a_pool() {
  size_t bytes = 54321;
  CUdeviceptr address = 0;
  cuda.fail_next("cuMemPoolImportPointer", kInvalidValue);
  EXPECT(cuda.cuMemPoolImportPointer(&address, nullptr, &bytes) == kInvalidValue);
  for (int i = 0; i < 2; ++i) {
    EXPECT(cuda.cuMemPoolImportPointer(&address, nullptr, &bytes) == kSuccess);
    books["imported"].add(54321);
    EXPECT((i == 0 ? cuda.cuMemFreeAsync(address, nullptr) : cuda.cuMemFree_v2(address)) == kSuccess);
    books["imported"].sub(54321);
  }
}

// A context that ends takes what was allocated in it, and nothing of others.
KEEP_FRAME void contexts(CUcontext main_context) {
  CUcontext other = nullptr;
  EXPECT(cuda.cuCtxCreate_v2(&other, 0, 1) == kSuccess);
  const CUdeviceptr freed_late = allocate(11111, "cuda:1");
  allocate(22222, "cuda:1");
  cuda.fail_next("cuCtxDestroy_v2", kInvalidContext);
  EXPECT(cuda.cuCtxDestroy_v2(other) == kInvalidContext);  // it lives
  EXPECT(cuda.cuCtxDestroy_v2(other) == kSuccess);
  books["cuda:1"].sub(11111);
  books["cuda:1"].sub(22222);
  EXPECT(cuda.cuCtxSetCurrent(main_context) == kSuccess);
  cuda.fail_next("cuMemFree_v2", kInvalidValue);
  EXPECT(cuda.cuMemFree_v2(freed_late) == kInvalidValue);  // as destructors do after a reset: nothing is missing

  CUcontext primary = nullptr;
  EXPECT(cuda.cuDevicePrimaryCtxRetain(&primary, 1) == kSuccess);
  EXPECT(cuda.cuDevicePrimaryCtxRetain(&primary, 1) == kSuccess);
  EXPECT(cuda.cuDevicePrimaryCtxRelease_v2(1) == kSuccess);  // not the last
  EXPECT(cuda.cuCtxSetCurrent(primary) == kSuccess);
  allocate(33333, "cuda:1");
  EXPECT(cuda.cuDevicePrimaryCtxReset_v2(1) == kSuccess);
  books["cuda:1"].sub(33333);
  allocate(44444, "cuda:1");
  EXPECT(cuda.cuDevicePrimaryCtxRelease_v2(1) == kSuccess);
  books["cuda:1"].sub(44444);
  EXPECT(cuda.cuCtxSetCurrent(main_context) == kSuccess);
}

// A thread without a context: the driver says whose an address is.
KEEP_FRAME void other_threads(CUcontext main_context) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([main_context] {
      cuda.cuCtxSetCurrent(main_context);
      for (int round = 0; round < 200; ++round) {
        CUdeviceptr address = 0;
        cuda.cuMemAlloc_v2(&address, 1000);
        cuda.cuMemFree_v2(address);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Book& book = books["cuda:0"];
  book.total += 4 * 200 * 1000;
  book.count += 4 * 200;
  std::thread([] {
    CUdeviceptr address = 0;
    EXPECT(cuda.cuMemAllocFromPoolAsync(&address, 700, nullptr, nullptr) == kSuccess);
    books["cuda:1"].add(700);
    EXPECT(cuda.cuMemFree_v2(address) == kSuccess);
    books["cuda:1"].sub(700);
  }).join();
}

}  // namespace

int main() {
  if (!load_cuda()) return 90;
  CUcontext context = nullptr;
  EXPECT(cuda.cuInit(0) == kSuccess);
  EXPECT(cuda.cuMemAlloc_v2(nullptr, 1) != kSuccess);  // no context: nothing happens
  EXPECT(cuda.cuCtxCreate_v2(&context, 0, 0) == kSuccess);
  plain_memory();
  failures_change_nothing();
  pitched_managed_pinned();
  arrays();
  formats();
  pools_and_streams();
  virtual_memory();
  imported();
  multicast();
  external();
  imported_from_a_pool();
  contexts(context);
  other_threads(context);
  for (const auto& [name, book] : books)
    printf("%s %ld %ld %ld %ld %ld\n", name.c_str(), book.total, book.count, book.peak, book.live, book.blocks);
  return failures == 0 ? 0 : 1;
}
