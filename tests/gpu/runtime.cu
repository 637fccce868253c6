// tests/gpu/runtime.cu: allocates by the CUDA runtime in every way, and prints what heapprof must have counted.
//
// usage: runtime        prints for each device: name, total bytes, allocations, peak, bytes left; then lines that begin
//                       with #
// Built with the static and with the shared runtime (scripts/gpu-check).
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

struct Book {
  long total = 0, count = 0, peak = 0, live = 0;
  void add(long bytes) {
    total += bytes;
    ++count;
    live += bytes;
    if (live > peak) peak = live;
  }
};
std::map<std::string, Book> books;

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("# line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(3);
}
#define CHECK(call) check(call, __LINE__)

__global__ void touch(char* at, size_t bytes) {
  for (size_t i = threadIdx.x; i < bytes; i += blockDim.x) at[i] = 1;
}

}  // namespace

int main() {
  CHECK(cudaSetDevice(0));
  CHECK(cudaFree(nullptr));  // makes the context
  size_t free_before = 0, total = 0, free_after = 0;
  CHECK(cudaMemGetInfo(&free_before, &total));
  void* kept = nullptr;
  CHECK(cudaMalloc(&kept, 256 << 20));
  books["cuda:0"].add(256 << 20);
  CHECK(cudaMemGetInfo(&free_after, &total));
  std::printf("# cudaMalloc of 256 MiB took %zd bytes of what was free\n", static_cast<ssize_t>(free_before - free_after));
  for (int i = 1; i <= 100; ++i) {
    void* block = nullptr;
    CHECK(cudaMalloc(&block, 12345 * i));
    books["cuda:0"].add(12345 * i);
    touch<<<1, 64>>>(static_cast<char*>(block), 12345 * i);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(block));
    books["cuda:0"].live -= 12345 * i;
  }
  void* pitched = nullptr;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&pitched, &pitch, 1000, 100));
  books["cuda:0"].add(static_cast<long>(pitch) * 100);
  void* managed = nullptr;
  CHECK(cudaMallocManaged(&managed, 7 << 20));
  books["managed"].add(7 << 20);
  void* pinned = nullptr;
  CHECK(cudaMallocHost(&pinned, 3 << 20));
  books["pinned"].add(3 << 20);
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream));
  for (int i = 0; i < 50; ++i) {
    void* block = nullptr;
    CHECK(cudaMallocAsync(&block, 1 << 20, stream));
    books["cuda:0"].add(1 << 20);
    CHECK(cudaFreeAsync(block, stream));
    books["cuda:0"].live -= 1 << 20;
  }
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaFreeHost(pinned));
  books["pinned"].live -= 3 << 20;
  for (const auto& [name, book] : books)
    std::printf("%s %ld %ld %ld %ld\n", name.c_str(), book.total, book.count, book.peak, book.live);
  std::fflush(stdout);
  std::_Exit(0);  // what is left is left
}
