// tests/targets/cuda/cuda_runtime.cc: memory by the CUDA runtime's functions, as linked or (argument: dlopen) as dlopen
// finds them; with books.
//
// prints for each device: name, total bytes, allocations, peak, bytes and blocks that are left
#include "../keep.h"
#include "tests/fake_cuda/fake_cudart.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Runtime {
#define X(name, params) decltype(&::name) name = &::name;
  FAKE_CUDART_FUNCTIONS(X)
#undef X
};
Runtime cuda;

struct Book {
  long total = 0, count = 0, peak = 0, live = 0, blocks = 0;
  void add(size_t bytes) {
    total += static_cast<long>(bytes);
    ++count;
    live += static_cast<long>(bytes);
    ++blocks;
    if (live > peak) peak = live;
  }
  void sub(size_t bytes) {
    live -= static_cast<long>(bytes);
    --blocks;
  }
};
std::map<std::string, Book> books;

int failures = 0;
void expect(bool holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "line %d: %s\n", line, what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

constexpr int kOwnErrno = 4242;  // which no question of the agent's may change

KEEP_FRAME void* plain(size_t bytes) {
  void* block = nullptr;
  errno = kOwnErrno;
  EXPECT(cuda.cudaMalloc(&block, bytes) == 0);
  EXPECT(errno == kOwnErrno);
  books["cuda:0"].add(bytes);
  return block;
}

KEEP_FRAME void device_memory() {
  void* first = plain(100000);
  void* second = plain(200000);
  EXPECT(cuda.cudaFree(first) == 0);
  books["cuda:0"].sub(100000);
  EXPECT(cuda.cudaFree(first) != 0);  // fails, and changes nothing
  EXPECT(cuda.cudaFree(nullptr) == 0);
  EXPECT(cuda.cudaMalloc(nullptr, 5) != 0);
  size_t pitch = 0;
  void* flat = nullptr;
  EXPECT(cuda.cudaMallocPitch(&flat, &pitch, 1000, 10) == 0);
  books["cuda:0"].add(pitch * 10);
  FakePitched deep{};
  EXPECT(cuda.cudaMalloc3D(&deep, {100, 20, 3}) == 0);
  books["cuda:0"].add(deep.pitch * 60);
  EXPECT(cuda.cudaFree(flat) == 0);
  books["cuda:0"].sub(pitch * 10);
  EXPECT(cuda.cudaFree(second) == 0);
  books["cuda:0"].sub(200000);
}

KEEP_FRAME void host_memory() {
  void* blocks[2];
  EXPECT(cuda.cudaMallocHost(&blocks[0], 8192) == 0);
  EXPECT(cuda.cudaHostAlloc(&blocks[1], 4096, 0) == 0);
  books["pinned"].add(8192);
  books["pinned"].add(4096);
  EXPECT(cuda.cudaFreeHost(blocks[0]) == 0);
  books["pinned"].sub(8192);
  EXPECT(cuda.cudaMallocManaged(&blocks[0], 70000, 1) == 0);
  books["managed"].add(70000);
  EXPECT(cuda.cudaFree(blocks[0]) == 0);
  books["managed"].sub(70000);
}

KEEP_FRAME void pools() {
  void* blocks[4];
  EXPECT(cuda.cudaMallocAsync(&blocks[0], 1001, nullptr) == 0);
  EXPECT(cuda.cudaMallocAsync_ptsz(&blocks[1], 1002, nullptr) == 0);
  EXPECT(cuda.cudaMallocFromPoolAsync(&blocks[2], 1003, nullptr, nullptr) == 0);
  EXPECT(cuda.cudaMallocFromPoolAsync_ptsz(&blocks[3], 1004, nullptr, nullptr) == 0);
  for (size_t i = 0; i < 4; ++i) books["cuda:0"].add(1001 + i);
  EXPECT(cuda.cudaFreeAsync(blocks[0], nullptr) == 0);
  EXPECT(cuda.cudaFreeAsync_ptsz(blocks[1], nullptr) == 0);
  EXPECT(cuda.cudaFree(blocks[2]) == 0);
  for (size_t i = 0; i < 3; ++i) books["cuda:0"].sub(1001 + i);
}

KEEP_FRAME void threads() {
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([] {
      for (int round = 0; round < 200; ++round) {
        void* block = nullptr;
        cuda.cudaMalloc(&block, 1000);
        cuda.cudaFree(block);
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  books["cuda:0"].total += 4 * 200 * 1000;
  books["cuda:0"].count += 4 * 200;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "dlopen") == 0) {
    void* library = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 90;
#define X(name, params)                                                   \
  cuda.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  if (cuda.name == nullptr) return 91;
    FAKE_CUDART_FUNCTIONS(X)
#undef X
  }
  device_memory();
  host_memory();
  pools();
  threads();
  for (const auto& [name, book] : books)
    printf("%s %ld %ld %ld %ld %ld\n", name.c_str(), book.total, book.count, book.peak, book.live, book.blocks);
  return failures == 0 ? 0 : 1;
}
