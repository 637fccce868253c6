// tests/targets/inside/pauses.cc: a program that pauses, with its own books of what is recorded and of what is not.
//
//   pauses SEED THREADS OPERATIONS HOW BOOKS   random work: threads begin and end pauses, nested ones too, and
//                                              allocate, resize and free blocks of one table in and outside of them.
//                                              HOW it ends: exit or KILL
//   pauses fork                                a child of a thread that paused, and one that paused and ends in it
//   pauses cpp                                 the same by objects, of C and of C++
#include <heapprof/heapprof.hpp>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

constexpr size_t kSites = 6;
constexpr size_t kSlots = 1024;

// Each is a site of its own.
template <size_t kSite>
[[gnu::noinline]] void* take(size_t size_bytes) {
  void* block = std::malloc(size_bytes);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}
template <size_t kSite>
[[gnu::noinline]] void* resize(void* block, size_t size_bytes) {
  block = std::realloc(block, size_bytes);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}
using Take = void* (*)(size_t);
using Resize = void* (*)(void*, size_t);
template <size_t... kSite>
constexpr std::array<Take, kSites> takers(std::index_sequence<kSite...>) {
  return {take<kSite>...};
}
template <size_t... kSite>
constexpr std::array<Resize, kSites> resizers(std::index_sequence<kSite...>) {
  return {resize<kSite>...};
}
constexpr std::array<Take, kSites> kTakers = takers(std::make_index_sequence<kSites>());
constexpr std::array<Resize, kSites> kResizers = resizers(std::make_index_sequence<kSites>());

// ---- The books, in static memory ----

struct Sum {
  std::atomic<uint64_t> total_bytes, total_blocks, live_bytes, live_blocks;

  void add(size_t size_bytes) {
    total_bytes += size_bytes;
    ++total_blocks;
    live_bytes += size_bytes;
    ++live_blocks;
  }
  void remove(size_t size_bytes) {
    live_bytes -= size_bytes;
    --live_blocks;
  }
};
constexpr size_t kLeftOut = 2 * kSites;
Sum g_sums[2 * kSites + 1];  // of `take`, then of `resize`, then of all that is left out

struct Slot {
  pthread_mutex_t lock;
  void* block;
  size_t size_bytes;
  size_t sum;  // its place in g_sums
};
Slot g_slots[kSlots];
uint64_t g_operations = 0;

struct Worker {
  uint64_t random;
  uint32_t pauses = 0;

  uint64_t next() {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return random >> 33;
  }
  void begin(Slot* slot, size_t site, size_t size_bytes) const {
    slot->size_bytes = size_bytes;
    slot->sum = pauses == 0 ? site : kLeftOut;
    g_sums[slot->sum].add(size_bytes);
  }
  void operate() {
    Slot& slot = g_slots[next() % kSlots];
    const size_t site = next() % kSites;
    const size_t size_bytes = next() % 900 + 1;
    const uint64_t what = next() % 5;
    pthread_mutex_lock(&slot.lock);
    if (slot.block == nullptr) {
      slot.block = kTakers[site](size_bytes);
      begin(&slot, site, size_bytes);
    } else {
      g_sums[slot.sum].remove(slot.size_bytes);
      if (what < 2) {
        slot.block = kResizers[site](slot.block, size_bytes);
        begin(&slot, kSites + site, size_bytes);
      } else {
        std::free(slot.block);
        slot.block = nullptr;
      }
    }
    pthread_mutex_unlock(&slot.lock);
  }
  void pause_or_resume() {
    const uint64_t what = next() % 30;
    if (what == 0 && pauses < 3) {
      heapprof_pause();
      ++pauses;
    } else if (what < 3) {
      heapprof_resume();  // outside of all it does nothing
      pauses -= pauses == 0 ? 0 : 1;
    }
  }
};

void* work(void* seed) {
  Worker worker{reinterpret_cast<uintptr_t>(seed)};
  for (uint64_t i = 0; i < g_operations; ++i) {
    worker.operate();
    worker.pause_or_resume();
  }
  return nullptr;  // some end in a pause
}

void write_books(const char* path) {
  FILE* file = std::fopen(path, "w");
  for (size_t i = 0; i <= kLeftOut; ++i) {
    const Sum& sum = g_sums[i];
    std::fprintf(file, "%s<%zu>|%lu %lu %lu %lu\n",
                 i == kLeftOut ? "left out"
                 : i < kSites  ? "take"
                               : "resize",
                 i % kSites, sum.total_bytes.load(), sum.total_blocks.load(), sum.live_bytes.load(),
                 sum.live_blocks.load());
  }
  std::fclose(file);
}

void run_random(char** arguments) {
  const uint64_t seed = std::strtoull(arguments[1], nullptr, 10) * 1000;
  const size_t threads = std::strtoull(arguments[2], nullptr, 10);
  g_operations = std::strtoull(arguments[3], nullptr, 10);
  for (Slot& slot : g_slots) pthread_mutex_init(&slot.lock, nullptr);
  pthread_t ids[64];
  for (size_t round = 0; round < 2; ++round) {  // threads of the second one are in none of the first one's pauses
    for (size_t i = 0; i < threads; ++i)
      pthread_create(&ids[i], nullptr, work, reinterpret_cast<void*>(seed + 100 * round + i));
    for (size_t i = 0; i < threads; ++i) pthread_join(ids[i], nullptr);
  }
  write_books(arguments[5]);
  if (std::strcmp(arguments[4], "KILL") == 0) kill(getpid(), SIGKILL);
}

void run_fork() {
  heapprof_pause();
  void* parents = take<0>(1235);
  const pid_t child = fork();
  if (child == 0) {
    std::free(parents);
    take<1>(77);  // it is in none
    heapprof_resume();
    heapprof_pause();
    take<2>(5);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  take<1>(33);
}

void run_cpp() {
  void* before = take<0>(100);
  {
    const heapprof::pause pause;
    take<1>(10);
    std::free(before);  // counts
    HEAPPROF_PAUSE();
    take<1>(20);
  }
  before = take<2>(7);
  for (int i = 0; i < 3; ++i) {
    HEAPPROF_PAUSE();
    before = resize<0>(before, 50);  // from the first time on it is left out …
  }
  resize<1>(before, 60);  // … until here
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 5) {
    run_random(arguments);
  } else if (std::strcmp(arguments[1], "fork") == 0) {
    run_fork();
  } else {
    run_cpp();
  }
  return 0;
}
