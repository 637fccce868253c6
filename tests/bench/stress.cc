// tests/bench/stress.cc: an allocator's bad day: threads that allocate, resize, free, and free each other's blocks.
// usage: stress THREADS OPERATIONS     the same work for the same arguments; prints the blocks allocated
#include "random.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr size_t kOwnSlots = 512;
constexpr size_t kSharedSlots = 1024;
std::atomic<void*> g_shared[kSharedSlots];

// Mostly small, now and then large: as real programs are.
size_t pick_size(uint64_t bits) {
  const unsigned kind = bits & 63;
  if (kind < 48) return 16 + (bits >> 8) % 112;
  if (kind < 62) return 128 + (bits >> 8) % 1920;
  return 2048 + (bits >> 8) % 62000;
}

[[gnu::noinline]] void* allocate_small(size_t size) { return std::malloc(size); }
[[gnu::noinline]] void* allocate_zeroed(size_t size) { return std::calloc(1, size); }
[[gnu::noinline]] void* resize(void* block, size_t size) { return std::realloc(block, size); }

// A few levels more or less, so that stacks differ.
[[gnu::noinline]] void* allocate(unsigned levels, bool zeroed, size_t size) {
  volatile unsigned keep = levels;
  void* block = levels > 0 ? allocate(levels - 1, zeroed, size) : zeroed ? allocate_zeroed(size) : allocate_small(size);
  return keep == levels ? block : nullptr;
}

void work(uint64_t seed, long operations, uint64_t* allocated) {
  Random random{seed * 0x9E3779B97F4A7C15ull + 1};
  std::vector<void*> own(kOwnSlots, nullptr);
  uint64_t count = 0;
  for (long i = 0; i < operations; ++i) {
    const uint64_t bits = random.next();
    void*& slot = own[(bits >> 20) % kOwnSlots];
    switch (bits % 8) {
      case 0:  // hand over to whoever comes next, take what lies there
        slot = g_shared[(bits >> 40) % kSharedSlots].exchange(slot, std::memory_order_acq_rel);
        break;
      case 1:
        if (slot != nullptr) {
          slot = resize(slot, pick_size(bits >> 3));
          ++count;
          break;
        }
        [[fallthrough]];
      default:
        std::free(slot);
        slot = allocate((bits >> 50) % 12, (bits >> 62) == 0, pick_size(bits >> 3));
        ++count;
    }
  }
  for (void* block : own) std::free(block);
  *allocated = count;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 4;
  const long operations = argc > 2 ? std::atol(argv[2]) : 1'000'000;
  if (threads < 1 || operations < 1) {
    std::fprintf(stderr, "usage: stress THREADS OPERATIONS\n");
    return 2;
  }
  std::vector<uint64_t> counts(static_cast<size_t>(threads));
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) pool.emplace_back(work, i + 1, operations, &counts[static_cast<size_t>(i)]);
  uint64_t all = 0;
  for (int i = 0; i < threads; ++i) {
    pool[static_cast<size_t>(i)].join();
    all += counts[static_cast<size_t>(i)];
  }
  for (auto& slot : g_shared) std::free(slot.load());
  std::printf("%llu blocks\n", static_cast<unsigned long long>(all));
  return 0;
}
