// tests/bench/growth.cc: a program of any size in four directions, for tests/bench/growth.py.
//
//   growth EVENTS LIVE STACKS THREADS    allocations and frees in all; the most blocks at a time; call stacks; threads
//
// Each thread fills its share of the live blocks, then frees one of them at random and takes another, each time by one
// of the stacks, at random too.
#include "random.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

// A line of its own: what follows the call differs, so that the compiler does not make one of all.
#define TAKE(n)                                   \
  case n:                                         \
    block = take(which / 10, stacks / 10, size);  \
    __asm__ volatile("# line " #n : "+r"(block)); \
    break;

// One of `stacks` stacks: each level calls the next one from one of ten lines, by a digit of `which`.
[[gnu::noinline]] void* take(uint64_t which, uint64_t stacks, size_t size) {
  void* block = nullptr;
  if (stacks <= 1) return std::malloc(size);
  switch (which % 10) { TAKE(0) TAKE(1) TAKE(2) TAKE(3) TAKE(4) TAKE(5) TAKE(6) TAKE(7) TAKE(8) TAKE(9) }
  return block;
}

void work(uint64_t events, uint64_t live, uint64_t stacks, uint64_t seed) {
  Random random{seed};
  std::vector<void*> blocks(live);
  uint64_t done = 0;
  for (void*& block : blocks) {
    block = take(random.next() >> 8, stacks, 16 + random.next() % 128);
    ++done;
  }
  while (done + live < events) {
    void*& block = blocks[random.next() % live];
    std::free(block);
    block = take(random.next() >> 8, stacks, 16 + random.next() % 128);
    done += 2;
  }
  for (void* block : blocks) std::free(block);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const uint64_t events = std::strtoull(argv[1], nullptr, 10), live = std::strtoull(argv[2], nullptr, 10);
  const uint64_t stacks = std::strtoull(argv[3], nullptr, 10), threads = std::strtoull(argv[4], nullptr, 10);
  std::vector<std::thread> others;
  for (uint64_t i = 1; i < threads; ++i)
    others.emplace_back(work, events / threads, std::max<uint64_t>(1, live / threads), stacks, i + 1);
  work(events / threads, std::max<uint64_t>(1, live / threads), stacks, 1);
  for (std::thread& other : others) other.join();
}
