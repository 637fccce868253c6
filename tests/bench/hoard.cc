// tests/bench/hoard.cc: threads that each hold millions of small blocks at once, of sizes that change, and free them at
// their end: the shape of glibc's own test of malloc_info, at the size of a large heap.
//
//   hoard THREADS BLOCKS      blocks of each thread
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

[[gnu::noinline]] void* take(size_t size) { return std::malloc(size); }

void work(size_t count) {
  std::vector<void*> blocks(count);
  for (size_t i = 0; i < count; ++i) {
    blocks[i] = take(8 + i * 7919 % 57);
    if (blocks[i] == nullptr) std::abort();
    *static_cast<char*>(blocks[i]) = 1;
  }
  for (void* block : blocks) std::free(block);
}

}  // namespace

int main(int argc, char** argv) {
  const size_t threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 4;
  const size_t count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 3'350'000;
  std::vector<std::thread> workers;
  for (size_t i = 0; i < threads; ++i) workers.emplace_back(work, count);
  for (std::thread& worker : workers) worker.join();
  std::printf("%zu\n", threads * count);
}
