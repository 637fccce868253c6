// agent/process/age.cc: a ring of endings, each written under a lock and read without one.
//
// An entry's own age is 0 while it is changed. A reader checks it before and after, and so rejects an entry that was
// overwritten in between.
#include "agent/process/age.h"

namespace heapprof::agent {

namespace {

struct Entry {
  std::atomic<uint32_t> age;
  std::atomic<uint64_t> start_avma;
  std::atomic<uint64_t> end_avma;
};
constinit Entry g_entries[kKeptEndings]{};
constinit std::atomic<uint32_t> g_age{0};

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

uint32_t current_age() { return g_age.load(std::memory_order_acquire); }

uint32_t end_what_is_known(const Ending& ending) {
  uint32_t age = g_age.load(kRelaxed) + 1;
  if (age == 0) age = 1;
  Entry& entry = g_entries[age % kKeptEndings];
  entry.age.store(0, kRelaxed);
  std::atomic_thread_fence(std::memory_order_release);  // the 0 is seen before any change
  entry.start_avma.store(ending.start_avma, kRelaxed);
  entry.end_avma.store(ending.end_avma, kRelaxed);
  entry.age.store(age, std::memory_order_release);
  g_age.store(age, std::memory_order_release);
  return age;
}

bool find_ending(uint32_t age, Ending* ending) {
  const Entry& entry = g_entries[age % kKeptEndings];
  if (age == 0 || entry.age.load(std::memory_order_acquire) != age) return false;
  *ending = {entry.start_avma.load(kRelaxed), entry.end_avma.load(kRelaxed)};
  std::atomic_thread_fence(std::memory_order_acquire);
  return entry.age.load(kRelaxed) == age;
}

}  // namespace heapprof::agent
