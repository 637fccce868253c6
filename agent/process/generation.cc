// agent/process/generation.cc: a ring of endings, each written under a lock and read without one.
//
// An entry's own generation is 0 while it is changed. A reader checks it before and after, and so rejects an entry that
// was overwritten in between.
#include "agent/process/generation.h"

namespace heapprof::agent {

namespace {

struct Entry {
  std::atomic<uint32_t> generation;
  std::atomic<uint64_t> start_avma;
  std::atomic<uint64_t> end_avma;
};
constinit Entry g_entries[kKeptEndings]{};
constinit std::atomic<uint32_t> g_generation{0};

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

uint32_t current_generation() { return g_generation.load(std::memory_order_acquire); }

uint32_t end_what_is_known(const Ending& ending) {
  uint32_t generation = g_generation.load(kRelaxed) + 1;
  if (generation == 0) generation = 1;
  Entry& entry = g_entries[generation % kKeptEndings];
  entry.generation.store(0, kRelaxed);
  std::atomic_thread_fence(std::memory_order_release);  // the 0 is seen before any change
  entry.start_avma.store(ending.start_avma, kRelaxed);
  entry.end_avma.store(ending.end_avma, kRelaxed);
  entry.generation.store(generation, std::memory_order_release);
  g_generation.store(generation, std::memory_order_release);
  return generation;
}

bool find_ending(uint32_t generation, Ending* ending) {
  const Entry& entry = g_entries[generation % kKeptEndings];
  if (generation == 0 || entry.generation.load(std::memory_order_acquire) != generation) return false;
  *ending = {entry.start_avma.load(kRelaxed), entry.end_avma.load(kRelaxed)};
  std::atomic_thread_fence(std::memory_order_acquire);
  return entry.generation.load(kRelaxed) == generation;
}

}  // namespace heapprof::agent
